import type { Arch } from '../../../src/host/facts.ts';
import {
  ALLOW,
  answer,
  ENOSYS,
  type Condition,
  type Rule,
} from '../../../src/plan/seccomp/rule.ts';
import {
  FIRST_UNKNOWN_SYSCALL,
  findSyscallNumber,
} from '../../../src/plan/seccomp/syscall-numbers.ts';

const ARGUMENTS = 6;

/** What the rules say, read one after the other, with none of the compiler's cleverness. */
export function evaluateRules(
  rules: readonly Rule[],
  call: { readonly arch: Arch; readonly nr: number; readonly args: readonly bigint[] },
): number {
  return findDecidingRule(rules, call)?.verdict ?? (isKnown(call.nr) ? ALLOW : answer(ENOSYS));
}

export function findDecidingRule(
  rules: readonly Rule[],
  call: { readonly arch: Arch; readonly nr: number; readonly args: readonly bigint[] },
): Rule | undefined {
  return rules.find(
    (rule) =>
      findSyscallNumber(rule.call, call.arch) === call.nr &&
      rule.when.every((condition) => holds(condition, call.args)),
  );
}

/** Arguments at and around every boundary that the conditions draw, in all combinations. */
export function listTellingArguments(conditions: readonly Condition[]): bigint[][] {
  const pools = Array.from({ length: ARGUMENTS }, (_, arg) => listTellingValues(conditions, arg));
  let combinations: bigint[][] = [[]];
  for (const pool of pools) {
    combinations = combinations.flatMap((head) => pool.map((value) => [...head, value]));
  }
  return combinations;
}

export function listTellingValues(conditions: readonly Condition[], arg: number): bigint[] {
  const values = new Set<bigint>([0n]);
  for (const condition of conditions) {
    if (condition.arg !== arg) continue;
    if (condition.kind === 'non-null') values.add(1n).add(1n << 32n);
    if (condition.kind === 'bits') {
      for (let bit = 0n; bit < 32n; bit += 1n) values.add(1n << bit);
      values.add(BigInt(condition.mask)).add(BigInt(~condition.mask >>> 0));
    }
    if (condition.kind === 'value') {
      for (const value of condition.values) values.add(BigInt(value)).add(BigInt(value) + 1n);
    }
  }
  return [...values];
}

function isKnown(nr: number): boolean {
  return nr < FIRST_UNKNOWN_SYSCALL;
}

function holds(condition: Condition, args: readonly bigint[]): boolean {
  const arg = BigInt.asUintN(64, args[condition.arg] ?? 0n);
  const low = BigInt.asUintN(32, arg);
  switch (condition.kind) {
    case 'non-null':
      return arg !== 0n;
    case 'bits':
      return ((low & BigInt(condition.mask)) !== 0n) === condition.isSet;
    case 'value':
      return (
        condition.values.some((value) => BigInt(value) === (low & BigInt(condition.mask))) ===
        condition.isMember
      );
  }
}
