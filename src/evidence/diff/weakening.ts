import type { Difference } from './difference.ts';

const REFUSING: ReadonlySet<string> = new Set(['deny', 'protect', 'config']);
/** Strictest first. */
const ENVIRONMENT_MODES = ['strict', 'scrub', 'passthrough'];

/**
 * Whether the candidate's policy allows more in this line. What a line means is known for those that allow or refuse,
 * for limits and for the environment; any other change is just a change.
 */
export function isPolicyWeakened({ subject, before, after }: Difference): boolean {
  const effectOf = (facets: Difference['after']): string => facets[0]?.['effect'] ?? '';
  if (effectOf(after) === 'allow') return true;
  if (REFUSING.has(effectOf(before))) return true;
  const old = before[0]?.['value'];
  const now = after[0]?.['value'];
  if (/^limits\b/.test(subject)) return isRaised(old, now);
  if (/^env\.mode$/.test(subject))
    return ENVIRONMENT_MODES.indexOf(now ?? '') > ENVIRONMENT_MODES.indexOf(old ?? '');
  if (/^env\b/.test(subject)) return old === 'true' && now !== 'true';
  return false;
}

/** A limit that is gone is the highest. */
function isRaised(old: string | undefined, now: string | undefined): boolean {
  if (old === undefined) return false;
  return now === undefined || Number(now) > Number(old);
}
