import { REDACTED } from './redact.ts';

/** Takes what must not be shown out of a text. */
export type Hide = (text: string) => string;

/** A shorter one is found in too many texts that have nothing to do with it. */
const MIN_LENGTH = 8;

/** Hides these very values wherever they stand, also as part of an address, and in names of hosts, which have no case. */
export function makeHide(values: Iterable<string>): Hide {
  const forms = new Set<string>();
  for (const value of values)
    if (value.length >= MIN_LENGTH && value.isWellFormed())
      forms.add(value).add(encodeURIComponent(value));
  if (forms.size === 0) return (text) => text;
  // The longest first: one value may begin with another.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'gi');
  return (text) => text.replace(pattern, REDACTED);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
