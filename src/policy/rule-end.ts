import type { NetRule } from './policy.ts';
import { quote, type Refusal } from './problems.ts';

export const INSTANT_FORM = 'a time such as 2030-01-31T12:00:00Z';

/** RFC 3339, without its leeway: a rule must end at the same moment for every reader. */
const INSTANT =
  /^(\d{4}-\d\d-(\d\d))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:0\d|1\d|2[0-3]):[0-5]\d)$/;

/** Milliseconds since 1970, or undefined when `text` is no such time. */
export function parseInstant(text: string): number | undefined {
  const [, date = '', day] = INSTANT.exec(text) ?? [];
  const ms = Date.parse(text);
  // The 31st of a month that has none would be taken for the 1st of the next.
  const isOfMonth = new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day);
  return isOfMonth && !Number.isNaN(ms) ? ms : undefined;
}

export function checkInstant(text: string): Refusal | undefined {
  if (parseInstant(text) !== undefined) return undefined;
  return {
    problem: `${quote(text)} is not a date with a time and an offset`,
    hint: `write ${INSTANT_FORM}`,
  };
}

export function checkEnd(entry: Readonly<Record<string, unknown>>): Refusal | undefined {
  return entry['until'] !== undefined && entry['for'] !== undefined
    ? { problem: 'expected at most one of `until` and `for`' }
    : undefined;
}

/** `at 2030-01-31T12:00:00Z`, `600 s after the start`; undefined where a rule has no end. By the policy, never by the clock. */
export function describeEnd({ expiresAtMs, lastsMs }: NetRule): string | undefined {
  if (lastsMs !== undefined) return `${lastsMs / 1000} s after the start`;
  return expiresAtMs === undefined ? undefined : `at ${formatInstant(expiresAtMs)}`;
}

export function formatInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

export function isExpired({ expiresAtMs }: NetRule, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}
