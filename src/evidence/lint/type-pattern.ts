import { expandBraces } from '../../policy/braces.ts';
import { matchSegment } from '../../policy/segment.ts';

const MAX_LENGTH = 256;

/** Matches the type of an event. */
export type TypePattern = (type: string) => boolean;

/**
 * `*`, `?`, `[…]`, `{a,b}` and backslash, as shells have them; a dot is a character like any other. The time that it
 * takes is at most the product of the two lengths.
 */
export function makeTypePattern(text: string): TypePattern | { readonly problem: string } {
  if (text.length > MAX_LENGTH)
    return { problem: `a pattern is no longer than ${MAX_LENGTH} characters` };
  const forms = expandBraces(text);
  if ('problem' in forms) return forms;
  if (forms.some((form) => hasOpenSet(form))) return { problem: 'a [ is never closed' };
  return (type) => forms.some((form) => matchSegment(form, type));
}

function hasOpenSet(form: string): boolean {
  const bare = form.replace(/\\./gs, '').replace(/\[[!^]?\]?[^\]]*\]/g, '');
  return bare.includes('[');
}
