import type { Arch } from '../../host/facts.ts';
import type { FilterRequest } from './filter-request.ts';
import {
  encodeProgram,
  IF_ANY_BIT,
  IF_AT_LEAST,
  IF_EQUAL,
  makeProgram,
  writeAnd,
  writeBranch,
  writeLoad,
  writeReturn,
  type Label,
  type Program,
} from './program.ts';
import {
  ALL_BITS,
  ALLOW,
  answer,
  ENOSYS,
  KILL_PROCESS,
  type Condition,
  type Rule,
} from './rule.ts';
import { makeRules } from './rules.ts';
import { FIRST_UNKNOWN_SYSCALL, findSyscallNumber } from './syscall-numbers.ts';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const AUDIT_ARCH: Readonly<Record<Arch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Offsets in struct seccomp_data. Both architectures are little endian: the low half comes first. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENTS = 16;
const HALF_BYTES = 4;

/** The calls from `first` up to the next range's `first` share one piece of the program. */
interface Range {
  readonly first: number;
  readonly label: Label;
}

/** The program for seccomp(2): an array of struct sock_filter, little endian. */
export function compileFilter(request: FilterRequest): Uint8Array {
  const { arch } = request;
  const program = makeProgram();
  const ranges = writeRanges(program, makeRules(request), arch);
  const search = writeSearch(program, ranges, 0, ranges.length);
  const unknown = writeReturn(program, answer(ENOSYS));
  writeBranch(program, { on: IF_AT_LEAST, value: FIRST_UNKNOWN_SYSCALL, yes: unknown, no: search });
  const start = writeLoad(program, NUMBER);
  // A call of another architecture has other numbers: nothing below would mean what it says.
  const kill = writeReturn(program, KILL_PROCESS);
  writeBranch(program, { on: IF_EQUAL, value: AUDIT_ARCH[arch], yes: start, no: kill });
  writeLoad(program, ARCHITECTURE);
  return encodeProgram(program);
}

/** Neighbours with the same verdict become one range. */
function writeRanges(program: Program, rules: readonly Rule[], arch: Arch): Range[] {
  const rulesByNumber = groupByNumber(rules, arch);
  const ranges: Range[] = [];
  let previous = -1;
  for (let first = 0; first < FIRST_UNKNOWN_SYSCALL; first += 1) {
    const own = rulesByNumber[first];
    const label = own === undefined ? writeReturn(program, ALLOW) : writeRules(program, own);
    if (label !== previous) ranges.push({ first, label });
    previous = label;
  }
  return ranges;
}

function groupByNumber(rules: readonly Rule[], arch: Arch): (Rule[] | undefined)[] {
  const groups: (Rule[] | undefined)[] = [];
  for (const rule of rules) {
    const number = findSyscallNumber(rule.call, arch);
    if (number === null) continue;
    const group = groups[number];
    if (group === undefined) groups[number] = [rule];
    else group.push(rule);
  }
  return groups;
}

/** A balanced search for the range of the call. */
function writeSearch(program: Program, ranges: readonly Range[], from: number, to: number): Label {
  const middle = (from + to) >> 1;
  const { first, label } = ranges[middle] as Range;
  if (to - from === 1) return label;
  const yes = writeSearch(program, ranges, middle, to);
  const no = writeSearch(program, ranges, from, middle);
  return writeBranch(program, { on: IF_AT_LEAST, value: first, yes, no });
}

/** The first rule whose conditions all hold decides; a call that none decides is allowed. */
function writeRules(program: Program, rules: readonly Rule[]): Label {
  let next = writeReturn(program, ALLOW);
  for (let index = rules.length - 1; index >= 0; index -= 1) {
    const { verdict, when } = rules[index] as Rule;
    let decide = writeReturn(program, verdict);
    for (let test = when.length - 1; test >= 0; test -= 1) {
      decide = writeTest(program, when[test] as Condition, decide, next);
    }
    next = decide;
  }
  return next;
}

function writeTest(program: Program, test: Condition, yes: Label, no: Label): Label {
  const low = ARGUMENTS + test.arg * 2 * HALF_BYTES;
  switch (test.kind) {
    case 'bits': {
      const [some, none] = test.isSet ? [yes, no] : [no, yes];
      writeBranch(program, { on: IF_ANY_BIT, value: test.mask, yes: some, no: none });
      break;
    }
    case 'value': {
      const [member, stranger] = test.isMember ? [yes, no] : [no, yes];
      let rest = stranger;
      for (const value of test.values) {
        rest = writeBranch(program, { on: IF_EQUAL, value, yes: member, no: rest });
      }
      if (test.mask !== ALL_BITS) writeAnd(program, test.mask);
      break;
    }
    case 'non-null': {
      writeBranch(program, { on: IF_EQUAL, value: 0, yes: no, no: yes });
      const high = writeLoad(program, low + HALF_BYTES);
      writeBranch(program, { on: IF_EQUAL, value: 0, yes: high, no: yes });
      break;
    }
  }
  return writeLoad(program, low);
}
