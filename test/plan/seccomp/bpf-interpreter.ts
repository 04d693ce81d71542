/** What the kernel hands to a filter: struct seccomp_data without the instruction pointer. */
export interface SeccompData {
  readonly nr: number;
  readonly arch: number;
  readonly args?: readonly bigint[];
}

export interface Outcome {
  readonly verdict: number;
  readonly steps: number;
}

interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly value: number;
}

const DATA_BYTES = 64;
const MAX_INSTRUCTIONS = 4096;

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Runs a filter as the kernel would, and throws on a program that the kernel would not take. */
export function runFilter(bytes: Uint8Array, data: SeccompData): Outcome {
  const program = decodeFilter(bytes);
  const view = encodeData(data);
  let accumulator = 0;
  let at = 0;
  for (let steps = 1; ; steps += 1) {
    const instruction = program[at];
    if (instruction === undefined) throw new Error(`Ran past the end, to ${at}`);
    const { code, jumpTrue, jumpFalse, value } = instruction;
    at += 1;
    switch (code) {
      case LOAD_WORD:
        accumulator = view.getUint32(value, true);
        break;
      case AND:
        accumulator = (accumulator & value) >>> 0;
        break;
      case JUMP:
        at += value;
        break;
      case JUMP_EQUAL:
        at += accumulator === value ? jumpTrue : jumpFalse;
        break;
      case JUMP_GREATER:
        at += accumulator > value ? jumpTrue : jumpFalse;
        break;
      case JUMP_AT_LEAST:
        at += accumulator >= value ? jumpTrue : jumpFalse;
        break;
      case JUMP_ANY_BIT:
        at += (accumulator & value) === 0 ? jumpFalse : jumpTrue;
        break;
      case RETURN:
        return { verdict: value, steps };
      default:
        throw new Error(`Unknown instruction 0x${code.toString(16)}`);
    }
  }
}

/** The checks of bpf_check_classic() and seccomp_check_filter(), for the instructions used here. */
export function decodeFilter(bytes: Uint8Array): Instruction[] {
  if (bytes.length % 8 !== 0) throw new Error(`${bytes.length} bytes are not whole instructions`);
  const count = bytes.length / 8;
  if (count === 0 || count > MAX_INSTRUCTIONS) throw new Error(`${count} instructions`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const program: Instruction[] = [];
  for (let index = 0; index < count; index += 1) {
    const instruction = {
      code: view.getUint16(index * 8, true),
      jumpTrue: view.getUint8(index * 8 + 2),
      jumpFalse: view.getUint8(index * 8 + 3),
      value: view.getUint32(index * 8 + 4, true),
    };
    checkInstruction(instruction, index, count);
    program.push(instruction);
  }
  if (program.at(-1)?.code !== RETURN) throw new Error('The last instruction does not return');
  return program;
}

function checkInstruction(instruction: Instruction, index: number, count: number): void {
  const { code, jumpTrue, jumpFalse, value } = instruction;
  const left = count - index - 1;
  switch (code) {
    case LOAD_WORD:
      if (value % 4 !== 0 || value + 4 > DATA_BYTES)
        throw new Error(`Load of ${value} at ${index}`);
      return;
    case JUMP:
      if (value >= left) throw new Error(`Jump of ${value} at ${index} leaves the program`);
      return;
    case JUMP_EQUAL:
    case JUMP_GREATER:
    case JUMP_AT_LEAST:
    case JUMP_ANY_BIT:
      if (Math.max(jumpTrue, jumpFalse) >= left) throw new Error(`Branch at ${index} leaves`);
      return;
    case AND:
    case RETURN:
      return;
    default:
      throw new Error(`Unknown instruction 0x${code.toString(16)} at ${index}`);
  }
}

function encodeData({ nr, arch, args = [] }: SeccompData): DataView {
  const view = new DataView(new ArrayBuffer(DATA_BYTES));
  view.setUint32(0, nr, true);
  view.setUint32(4, arch, true);
  args.forEach((arg, index) => {
    view.setBigUint64(16 + index * 8, BigInt.asUintN(64, arg), true);
  });
  return view;
}
