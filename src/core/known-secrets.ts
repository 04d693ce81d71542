import { REDACTED } from './redaction-mark.ts';

/** Takes what must not be shown out of a text. Where that was cut, its end may be the beginning of such a thing. */
export type Hide = (text: string, end?: 'cut') => string;

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
  return (text, end) => {
    const shown = text.replace(pattern, REDACTED);
    return end === 'cut' ? hideBeginning(shown, longestFirst) : shown;
  };
}

function hideBeginning(text: string, forms: readonly string[]): string {
  const lower = text.toLowerCase();
  let found = 0;
  for (const form of forms.map((one) => one.toLowerCase()))
    for (let length = Math.min(form.length, lower.length); length > found; length--)
      if (lower.endsWith(form.slice(0, length))) found = length;
  return found === 0 ? text : text.slice(0, -found) + REDACTED;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
