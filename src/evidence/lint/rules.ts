import type { Detector, RuleInfo } from './rule.ts';
import { BOUNDARY } from './rules/boundary.ts';
import { CLAIMS } from './rules/claims.ts';
import { FILES } from './rules/files.ts';
import { HYGIENE } from './rules/hygiene.ts';
import { INTEGRITY } from './rules/integrity.ts';
import { NETWORK } from './rules/network.ts';
import { OLDER_EVENTS } from './rules/older-events.ts';
import { PROGRAMS } from './rules/programs.ts';

/** The rules of ours, which always run. */
export const DETECTORS: readonly Detector[] = [
  INTEGRITY,
  CLAIMS,
  BOUNDARY,
  FILES,
  NETWORK,
  PROGRAMS,
  HYGIENE,
  OLDER_EVENTS,
];

const AREAS = ['integrity', 'honesty', 'controls', 'refusals', 'hygiene'];

/** By area, then by id. */
export const OWN_RULES: readonly RuleInfo[] = DETECTORS.flatMap(({ rules }) => rules).sort(
  (a, b) => AREAS.indexOf(a.area) - AREAS.indexOf(b.area) || (a.id < b.id ? -1 : 1),
);
