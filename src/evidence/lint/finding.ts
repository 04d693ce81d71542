import { sha256Hex } from '../../core/digest.ts';
import { FingerprintSet } from './fingerprint-set.ts';
import {
  type EventPlace,
  type Occurrence,
  OWN_PACK,
  type RuleInfo,
  type Severity,
} from './rule.ts';
import { hideSecrets } from './secret-text.ts';

export interface Example {
  readonly subject: string;
  readonly detail: string;
  readonly at?: EventPlace | undefined;
}

export interface Finding {
  readonly rule: RuleInfo;
  readonly severity: Severity;
  readonly message: string;
  readonly place: string;
  readonly op: string;
  /** How many distinct subjects. */
  readonly count: number;
  /** The first few, in the order of the bundle. */
  readonly examples: readonly Example[];
  /** SHA-256 of rule, place and op, in hex: the same in every bundle in which the same is found. */
  readonly fingerprint: string;
}

const MAX_EXAMPLES = 5;
/** A rule with more findings than this gets one more, for all the rest. */
const MAX_PLACES = 50;
const MAX_LENGTH = 300;
export const ELSEWHERE = 'elsewhere';

interface Draft {
  readonly severity: Severity;
  readonly message: string | undefined;
  readonly place: string;
  readonly op: string;
  readonly examples: Example[];
  count: number;
}

/** The findings of one rule. Memory does not grow with what is found, but for a few bytes a subject. */
export class RuleFindings {
  readonly #rule: RuleInfo;
  readonly #drafts = new Map<string, Draft>();
  readonly #seen = new FingerprintSet();

  constructor(rule: RuleInfo) {
    this.#rule = rule;
  }

  add(occurrence: Occurrence): void {
    const { place, op, subject, detail = '', at } = occurrence;
    if (!this.#seen.add(`${place}\0${op}\0${subject}`)) return;
    const draft = this.#draftOf(occurrence);
    draft.count++;
    if (draft.examples.length >= MAX_EXAMPLES) return;
    draft.examples.push({ subject: shorten(subject), detail: shorten(detail), at });
  }

  list(): Finding[] {
    return [...this.#drafts.values()].map(({ place, op, message, ...rest }) => ({
      rule: this.#rule,
      ...rest,
      place,
      op,
      message: message ?? describe(this.#rule, place),
      fingerprint: sha256Hex(JSON.stringify([this.#rule.id, place, op])),
    }));
  }

  #draftOf({ place, op, message, severity }: Occurrence): Draft {
    const key = `${place}\0${op}`;
    const known = this.#drafts.get(key);
    if (known) return known;
    if (this.#drafts.size >= MAX_PLACES && place !== ELSEWHERE)
      return this.#draftOf({ place: ELSEWHERE, op: '', subject: '', severity });
    const draft: Draft = {
      severity: severity ?? this.#rule.severity,
      message: message === undefined ? undefined : shorten(message),
      place: shorten(place),
      op,
      examples: [],
      count: 0,
    };
    this.#drafts.set(key, draft);
    return draft;
  }
}

function describe({ title }: RuleInfo, place: string): string {
  return place === '' ? title : `${title}: ${place}`;
}

/** Names come from programs: they may be as long as a line, and hold what nobody should print again. */
function shorten(text: string): string {
  // Enough for what is shown, and for a secret that starts in it.
  const safe = hideSecrets(text.slice(0, 4 * MAX_LENGTH));
  return safe.length <= MAX_LENGTH
    ? safe
    : `${safe.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const WEIGHT: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

export function isAtLeast(severity: Severity, threshold: Severity): boolean {
  return WEIGHT[severity] <= WEIGHT[threshold];
}

/** The gravest first; then by rule, place and operation. */
export function compareFindings(a: Finding, b: Finding): number {
  return (
    WEIGHT[a.severity] - WEIGHT[b.severity] ||
    compareTexts(
      a.rule.pack === OWN_PACK ? '' : a.rule.pack,
      b.rule.pack === OWN_PACK ? '' : b.rule.pack,
    ) ||
    compareTexts(a.rule.id, b.rule.id) ||
    compareTexts(a.place, b.place) ||
    compareTexts(a.op, b.op)
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
