import { AssayError } from '../../core/errors.ts';

/** The kernel takes no longer program (BPF_MAXINSNS). */
const MAX_INSTRUCTIONS = 4096;
const LAST_NEAR_JUMP = 255;

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const RETURN = 0x06;
export const IF_EQUAL = 0x15;
export const IF_AT_LEAST = 0x35;
export const IF_ANY_BIT = 0x45;

/** Where an instruction is, counted from the end of the program. */
export type Label = number;

export interface Branch {
  readonly on: typeof IF_EQUAL | typeof IF_AT_LEAST | typeof IF_ANY_BIT;
  readonly value: number;
  readonly yes: Label;
  readonly no: Label;
}

/**
 * A classic BPF program that is written from its last instruction to its first. Jumps only go
 * forward, so the target of each one is known when it is written.
 */
export interface Program {
  /** Of each instruction, the last one first: operation and jumps in one word, the value in the other. */
  readonly operations: number[];
  readonly values: number[];
  readonly returns: Map<number, Label>;
}

export function makeProgram(): Program {
  return { operations: [], values: [], returns: new Map() };
}

/** Reuses an equal instruction that a conditional jump can still reach. */
export function writeReturn(program: Program, verdict: number): Label {
  const known = program.returns.get(verdict);
  if (known !== undefined && program.values.length - known < LAST_NEAR_JUMP / 2) return known;
  const label = write(program, RETURN, verdict);
  program.returns.set(verdict, label);
  return label;
}

/** Goes on with the instruction written before it, as `writeAnd` does. */
export function writeLoad(program: Program, offset: number): Label {
  return write(program, LOAD_WORD, offset);
}

export function writeAnd(program: Program, mask: number): Label {
  return write(program, AND, mask);
}

export function writeBranch(program: Program, { on, value, yes, no }: Branch): Label {
  // Bringing the second target near can push the first one further away by one instruction.
  const nearNo = bringNear(program, no, LAST_NEAR_JUMP - 1);
  const nearYes = bringNear(program, yes, LAST_NEAR_JUMP);
  const count = program.values.length;
  return write(program, on | ((count - nearYes) << 16) | ((count - nearNo) << 24), value);
}

/** An array of struct sock_filter, in the byte order of both architectures: little endian. */
export function encodeProgram({ operations, values }: Program): Uint8Array {
  const count = values.length;
  const bytes = new Uint8Array(count * 8);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < count; index += 1) {
    const at = (count - 1 - index) * 8;
    view.setUint32(at, operations[index] as number, true);
    view.setUint32(at + 4, values[index] as number, true);
  }
  return bytes;
}

/** Conditional jumps have 8 bits; a far target gets a stand-in: a copy if it returns, else a jump. */
function bringNear(program: Program, target: Label, limit: number): Label {
  const distance = program.values.length - target;
  if (distance <= limit) return target;
  return program.operations[target - 1] === RETURN
    ? write(program, RETURN, program.values[target - 1] as number)
    : write(program, JUMP, distance);
}

function write(program: Program, operation: number, value: number): Label {
  if (program.values.length === MAX_INSTRUCTIONS) {
    throw new AssayError('E_INTERNAL', 'The seccomp filter is longer than the kernel accepts');
  }
  program.operations.push(operation);
  return program.values.push(value);
}
