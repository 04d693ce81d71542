import fc from 'fast-check';

import { guessFacts } from '../../src/host/guess-facts.ts';
import { encodePlan, toByteText } from '../../src/launch/encode-plan.ts';
import { readHostTree } from '../../src/launch/host-tree.ts';
import { ALL_LAYERS } from '../../src/plan/layers.ts';
import { makePlan } from '../../src/plan/make-plan.ts';
import { planNamedNet } from '../../src/plan/named-net.ts';
import { compileFilter } from '../../src/plan/seccomp/compile-filter.ts';
import { resolvePolicy } from '../../src/policy/combine.ts';

export interface PlanOwner {
  readonly uid: number;
  readonly gid: number;
  /** Where the program is to run, and its private tmp. */
  readonly dir: string;
}

/** A real plan with every kind of record but cgroups: nothing a mutation does may name a file to be written. */
export function makeRealPlan({ uid, gid, dir }: PlanOwner): Uint8Array {
  const variables = { cwd: dir, home: dir, tmpdir: dir, user: 'tester' };
  const policy = resolvePolicy({
    preset: 'coding-agent',
    quick: { allowRead: [], allowWrite: [], deny: ['*.pem', `${dir}/secret`], allowUnix: [] },
    variables,
  });
  const plan = makePlan({
    policy: {
      ...policy,
      net: ['example.org', '10.1.0.0/16', '2001:db8::/32'].map((text) => ({
        effect: 'allow' as const,
        text,
        origin: { source: 'test', key: 'net.allow', text },
      })),
      limits: { pids: 100, timeoutMs: 20_000, diskBytes: 1 << 26, cpuMs: 20_000 },
    },
    variables,
    host: { ...guessFacts(), uid, gid, cgroup: { version: 0 } },
    tree: readHostTree(),
    choice: ALL_LAYERS,
    planNet: planNamedNet,
    argv: ['/bin/true', 'argument'],
    env: [['PATH', '/usr/bin:/bin']],
    parentPid: process.pid,
    graceMs: 100,
  });
  const filter = plan.launch.filter && toByteText(compileFilter(plan.launch.filter));
  return encodePlan({ ...plan.launch, banner: 'banner\n', cgroups: [] }, filter);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function listRecords(plan: Uint8Array): Span[] {
  const view = new DataView(plan.buffer, plan.byteOffset, plan.byteLength);
  const spans: Span[] = [];
  for (let at = 8; at + 8 <= plan.length;) {
    const end = at + 8 + view.getUint32(at + 4, true);
    spans.push({ start: at, end });
    at = end;
  }
  return spans;
}

const EXTREMES = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff8, 0xffff_ffff];

const CHANGES = [
  'flip',
  'word',
  'kind',
  'size',
  'cut',
  'drop',
  'repeat',
  'swap',
  'insert',
] as const;

export interface Mutation {
  readonly change: (typeof CHANGES)[number];
  readonly at: number;
  readonly value: number;
}

export const mutations = fc.array(
  fc.record({ change: fc.constantFrom(...CHANGES), at: fc.nat(), value: fc.nat() }),
  { minLength: 1, maxLength: 5 },
);

function joinSpans(plan: Uint8Array, spans: readonly Span[]): Uint8Array {
  return Buffer.concat([
    plan.subarray(0, 8),
    ...spans.map(({ start, end }) => plan.subarray(start, end)),
  ]);
}

function mutateOnce(
  plan: Uint8Array,
  { change, at, value }: Mutation,
  spans: readonly Span[],
): Uint8Array {
  const copy = Buffer.from(plan);
  const span = spans[at % spans.length] ?? { start: 8, end: 16 };
  const word = EXTREMES[value % EXTREMES.length] ?? 0;
  const canHold = (offset: number): boolean => offset + 4 <= copy.length;
  if (change === 'flip')
    copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ (1 << (value % 8));
  else if (change === 'word' && canHold(at % copy.length))
    copy.writeUInt32LE(word, at % copy.length);
  else if (change === 'kind' && canHold(span.start)) copy.writeUInt32LE(value % 20, span.start);
  else if (change === 'size' && canHold(span.start + 4)) copy.writeUInt32LE(word, span.start + 4);
  else if (change === 'cut') return copy.subarray(0, at % copy.length);
  else if (change === 'drop')
    return joinSpans(
      plan,
      spans.filter((one) => one !== span),
    );
  else if (change === 'repeat')
    return joinSpans(
      plan,
      spans.flatMap((one) => (one === span ? [one, one] : [one])),
    );
  else if (change === 'swap') return joinSpans(plan, [...spans].reverse());
  else if (change === 'insert')
    return Buffer.concat([
      copy.subarray(0, span.start),
      Buffer.alloc(value % 64, at % 256),
      copy.subarray(span.start),
    ]);
  return copy;
}

/** Applies the changes in turn. Record boundaries are looked up once more after each, as far as they still make sense. */
export function mutatePlan(plan: Uint8Array, list: readonly Mutation[]): Uint8Array {
  let mutated = plan;
  for (const mutation of list) {
    const spans = listRecords(mutated).filter(({ end }) => end <= mutated.length);
    mutated = mutateOnce(mutated, mutation, spans);
    if (mutated.length === 0) break;
  }
  return mutated;
}
