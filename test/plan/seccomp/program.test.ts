import { describe, expect, it } from 'vitest';
import { AssayError } from '../../../src/core/errors.ts';
import {
  encodeProgram,
  IF_EQUAL,
  makeProgram,
  writeAnd,
  writeBranch,
  writeLoad,
  writeReturn,
  type Program,
} from '../../../src/plan/seccomp/program.ts';
import { decodeFilter, runFilter } from './bpf-interpreter.ts';

const FILLERS = [0, 1, 252, 253, 254, 255, 256, 257, 300, 1000];

describe('writeBranch()', () => {
  it.each(FILLERS)('reaches returns and loads across %i instructions', (fillers) => {
    const program = makeProgram();
    const allow = writeReturn(program, 1);
    const refuse = writeReturn(program, 2);
    writeBranch(program, { on: IF_EQUAL, value: 7, yes: allow, no: refuse });
    const second = writeLoad(program, 4);
    pad(program, fillers);
    writeBranch(program, { on: IF_EQUAL, value: 5, yes: second, no: refuse });
    writeLoad(program, 0);
    const bytes = encodeProgram(program);

    expect(runFilter(bytes, { nr: 5, arch: 7 }).verdict).toBe(1);
    expect(runFilter(bytes, { nr: 5, arch: 8 }).verdict).toBe(2);
    expect(runFilter(bytes, { nr: 6, arch: 7 }).verdict).toBe(2);
  });

  it.each([true, false])('keeps both targets at the edge, the nearer one on %s', (nearer) => {
    for (let fillers = 248; fillers < 262; fillers += 1) {
      const program = makeProgram();
      writeReturn(program, 1);
      const far = writeLoad(program, 0);
      writeReturn(program, 2);
      const near = writeLoad(program, 0);
      pad(program, fillers);
      const [yes, no] = nearer ? [near, far] : [far, near];
      writeBranch(program, { on: IF_EQUAL, value: 5, yes, no });
      writeLoad(program, 0);
      const bytes = encodeProgram(program);
      const verdicts = [5, 6].map((nr) => runFilter(bytes, { nr, arch: 0 }).verdict);
      expect(verdicts, `${fillers} between`).toEqual(nearer ? [2, 1] : [1, 2]);
    }
  });
});

it('writeReturn() repeats a return only when the last one gets far', () => {
  const program = makeProgram();
  const label = writeReturn(program, 1);
  expect(writeReturn(program, 1)).toBe(label);
  pad(program, 200);
  expect(writeReturn(program, 1)).not.toBe(label);
});

it('a program longer than the kernel takes is an error', () => {
  const program = makeProgram();
  writeReturn(program, 1);
  pad(program, 4095);
  expect(decodeFilter(encodeProgram(program))).toHaveLength(4096);
  expect(() => writeLoad(program, 0)).toThrow(AssayError);
});

describe('the interpreter', () => {
  it.each([
    ['nothing at all', []],
    ['half an instruction', [6, 0, 0, 0]],
    ['a last instruction that goes on', [0x20, 0, 0, 0, 0, 0, 0, 0]],
    ['an unaligned load', [0x20, 0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]],
    ['a load past the data', [0x20, 0, 0, 0, 64, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]],
    ['a branch past the end', [0x15, 0, 1, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]],
    ['a jump past the end', [5, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]],
    ['an instruction seccomp has not', [0x28, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]],
  ])('rejects %s', (_, bytes) => {
    expect(() => decodeFilter(Uint8Array.from(bytes))).toThrow(Error);
  });
});

function pad(program: Program, count: number): void {
  for (let index = 0; index < count; index += 1) writeAnd(program, 0xffffffff);
}
