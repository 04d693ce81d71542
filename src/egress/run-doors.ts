import { hostname } from 'node:os';
import type { Hide } from '../core/known-secrets.ts';
import { redactText } from '../core/redact.ts';
import { FakeAddresses } from './dns/name-table.ts';
import type { ServeDoors } from './doors.ts';
import type { EgressLog, NameTable } from './egress.ts';
import type { Injection } from './inject/prepare.ts';
import { makeOutsideLookup } from './outside-lookup.ts';
import { RefusalTally, type RefusedPlace } from './refusal-tally.ts';
import { makeResolver } from './resolver.ts';
import { makeEgressRules } from './rules.ts';
import { serveEgress } from './serve-egress.ts';
import { HostSurroundings } from './surroundings.ts';
import { SYSTEM_CLOCK } from './system-clock.ts';
import type { Policy } from '../policy/policy.ts';

export interface RunDoorsInput {
  readonly policy: Policy;
  readonly injection?: Injection | undefined;
  /** Where a recorded run takes the facts. */
  readonly openLog?: ((names: NameTable) => Promise<EgressLog>) | undefined;
  /** Hides values that are known to be secret in what is told at the end. */
  readonly hide?: Hide | undefined;
}

export interface RunDoors {
  readonly serve: ServeDoors;
  /** What is told at the end: places that were refused, with the flag that would allow each. */
  describeRefusals(): string[];
  listRefusals(): readonly RefusedPlace[];
}

const MAX_LINES = 5;

/** What a run with doors needs beside its program; loaded only then. */
export async function openRunDoors({
  policy,
  injection,
  openLog,
  hide,
}: RunDoorsInput): Promise<RunDoors> {
  const opening = injection && (await import('./inject/run-interceptor.ts'));
  const names = new FakeAddresses();
  const log = new RefusalTally(await openLog?.(names));
  const serve: ServeDoors = (doors) => {
    const surroundings = new HostSurroundings();
    const rules = makeEgressRules({ policy, clock: SYSTEM_CLOCK, surroundings });
    const resolver = makeResolver({ rules, outside: makeOutsideLookup(), surroundings });
    const ownNames = [hostname().toLowerCase()];
    const interceptor = opening && new opening.RunInterceptor(rules, injection);
    const now = (): number => Date.now();
    return serveEgress(doors, { rules, names, resolver, log, ownNames, interceptor, now });
  };
  return {
    serve,
    describeRefusals: () => describeRefusals(log, hide),
    listRefusals: () => listRefusals(log, hide),
  };
}

/** As they may be shown. */
function listRefusals(tally: RefusalTally, hide: Hide = (text) => text): RefusedPlace[] {
  const show = (text: string): string => redactText(hide(text));
  return tally.list().map(({ place, verdict: { rule, reason, hint, ...verdict } }) => ({
    place: show(place),
    verdict: {
      ...verdict,
      rule: rule === null ? null : show(rule),
      reason: reason === undefined ? undefined : show(reason),
      hint: hint === undefined ? undefined : show(hint),
    },
  }));
}

/** A place that was asked for and then refused again on connecting is told once. */
export function describeRefusals(tally: RefusalTally, hide?: Hide): string[] {
  const all = listRefusals(tally, hide);
  const lines = all.slice(0, MAX_LINES).map(({ place, verdict }) => {
    const why = verdict.reason === undefined ? '' : ` (${verdict.reason})`;
    const way = verdict.hint === undefined ? '' : `; allow it with ${verdict.hint}`;
    return `assay: refused: connect to ${place}${why}${way}`;
  });
  const more = all.length - lines.length + tally.more;
  return more > 0 ? [...lines, `assay: refused: ${more} more places`] : lines;
}
