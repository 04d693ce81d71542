import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileFilter } from '../../../src/plan/seccomp/compile-filter.ts';
import {
  ALLOW,
  answer,
  ENOSYS,
  KILL_PROCESS,
  type Condition,
} from '../../../src/plan/seccomp/rule.ts';
import { makeRules } from '../../../src/plan/seccomp/rules.ts';
import {
  FIRST_UNKNOWN_SYSCALL,
  findSyscallNumber,
} from '../../../src/plan/seccomp/syscall-numbers.ts';
import { decodeFilter, runFilter } from './bpf-interpreter.ts';
import { ALL_BROKERED, ARCHES, AUDIT_ARCH, listRequests, makeRequest } from './requests.ts';
import {
  evaluateRules,
  findDecidingRule,
  listTellingArguments,
  listTellingValues,
} from './rule-evaluator.ts';

const GARBAGE = 0xdeadbeefn << 32n;

describe.each(ARCHES)('compileFilter() for %s', (arch) => {
  const cases = listRequests(arch).map((request) => ({
    request,
    rules: makeRules(request),
    filter: compileFilter(request),
  }));

  it('writes programs that the kernel takes, well below its limit', () => {
    for (const { filter } of cases) {
      expect(decodeFilter(filter).length).toBeLessThan(500);
    }
  });

  it('gives every rule its verdict, whatever the upper half of a truncated argument holds', () => {
    for (const { rules, filter } of cases) {
      for (const call of new Set(rules.map((rule) => rule.call))) {
        const nr = findSyscallNumber(call, arch);
        if (nr === null) continue;
        const own = rules.filter((rule) => rule.call === call);
        const conditions = own.flatMap((rule) => rule.when);
        const undecided = new Set(own);
        for (const args of listTellingArguments(conditions)) {
          const expected = evaluateRules(own, { arch, nr, args });
          const wide = args.map((arg, index) =>
            isPointer(conditions, index) ? arg : arg | GARBAGE,
          );
          for (const values of [args, wide]) {
            const data = { nr, arch: AUDIT_ARCH[arch], args: values };
            expect(runFilter(filter, data).verdict, `${call}(${values.join()})`).toBe(expected);
          }
          const decider = findDecidingRule(own, { arch, nr, args });
          if (decider !== undefined) undecided.delete(decider);
        }
        expect([...undecided], `rules of ${call} that decide nothing`).toEqual([]);
      }
    }
  });

  it('allows the neighbours of listed calls', () => {
    for (const { rules, filter } of cases) {
      const listed = new Set(rules.map((rule) => findSyscallNumber(rule.call, arch)));
      for (const nr of listed) {
        if (nr === null) continue;
        for (const neighbour of [nr - 1, nr + 1]) {
          if (neighbour < 0 || listed.has(neighbour)) continue;
          const args = [~0n, ~0n, ~0n, ~0n, ~0n, ~0n];
          const { verdict } = runFilter(filter, { nr: neighbour, arch: AUDIT_ARCH[arch], args });
          expect(verdict, `call ${neighbour}`).toBe(ALLOW);
        }
      }
    }
  });

  it('knows no call newer than its table, and so none of the x32 aliases', () => {
    for (const { rules, filter } of cases) {
      const aliases = rules.map((rule) => 0x40000000 + (findSyscallNumber(rule.call, arch) ?? 0));
      for (const nr of [...aliases, FIRST_UNKNOWN_SYSCALL, 512, 520, 547, 0x40000000, 0xffffffff]) {
        const { verdict } = runFilter(filter, { nr, arch: AUDIT_ARCH[arch] });
        expect(verdict, `call ${nr}`).toBe(answer(ENOSYS));
      }
      const last = { nr: FIRST_UNKNOWN_SYSCALL - 1, arch: AUDIT_ARCH[arch] };
      expect(runFilter(filter, last).verdict).toBe(ALLOW);
    }
  });

  it('kills a process that calls through another architecture', () => {
    const others = [0x40000003, 0x40000028, 0, ...ARCHES.map((other) => AUDIT_ARCH[other])];
    for (const { filter } of cases) {
      for (const other of others) {
        if (other === AUDIT_ARCH[arch]) continue;
        for (const nr of [0, 59, 0x40000000]) {
          expect(runFilter(filter, { nr, arch: other }).verdict).toBe(KILL_PROCESS);
        }
      }
    }
  });

  it('decides on a call without rules in few steps', () => {
    for (const { rules, filter } of cases) {
      const listed = new Set(rules.map((rule) => findSyscallNumber(rule.call, arch)));
      for (let nr = 0; nr < FIRST_UNKNOWN_SYSCALL; nr += 1) {
        if (listed.has(nr)) continue;
        const { verdict, steps } = runFilter(filter, { nr, arch: AUDIT_ARCH[arch] });
        expect(verdict).toBe(ALLOW);
        expect(steps).toBeLessThanOrEqual(16);
      }
    }
  });

  it('agrees with a plain reading of the rules for any call', () => {
    for (const { rules, filter } of cases) {
      const calls = fc.record({ nr: arbitraryNumber(rules), args: arbitraryArguments(rules) });
      fc.assert(
        fc.property(calls, ({ nr, args }) => {
          const { verdict } = runFilter(filter, { nr, arch: AUDIT_ARCH[arch], args });
          expect(verdict).toBe(evaluateRules(rules, { arch, nr, args }));
        }),
        { numRuns: 1000 },
      );
    }
  });

  function arbitraryNumber(rules: ReturnType<typeof makeRules>): fc.Arbitrary<number> {
    const listed = rules.flatMap((rule) => findSyscallNumber(rule.call, arch) ?? []);
    return fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...listed) },
      { weight: 2, arbitrary: fc.nat(FIRST_UNKNOWN_SYSCALL + 100) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffffffff }) },
    );
  }
});

it('compiles an equal request to equal bytes', () => {
  const request = makeRequest({ notify: ALL_BROKERED });
  expect(compileFilter(request)).toEqual(compileFilter(structuredClone(request)));
});

/** Values that some rule compares with, alone or under a random upper half, and any other. */
function arbitraryArguments(rules: ReturnType<typeof makeRules>): fc.Arbitrary<bigint[]> {
  const conditions = rules.flatMap((rule) => rule.when);
  const words = [0, 1, 2, 3, 4, 5].map((arg) => {
    const telling = fc.constantFrom(...listTellingValues(conditions, arg));
    const upper = fc.constantFrom(0n, 1n << 32n, GARBAGE);
    return fc.oneof(
      { weight: 4, arbitrary: fc.tuple(telling, upper).map(([low, high]) => low | high) },
      { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }) },
    );
  });
  return fc.tuple(...words).map((args) => [...args]);
}

function isPointer(conditions: readonly Condition[], arg: number): boolean {
  return conditions.some((condition) => condition.kind === 'non-null' && condition.arg === arg);
}
