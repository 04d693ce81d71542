/**
 * What turns a name into more than a name: control characters (Cc), separators of lines and paragraphs, and the marks
 * that change the direction of text (Bidi_Control). Spelt out, since looking up the properties takes longer than a banner.
 */
export const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Names come from programs and from the workspace: an escape sequence or a line break in one must stay a name. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter);
}

/** For text of several lines: breaks and tabs stay. */
export function toPrintableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  );
}

/** A value as JSON, with escapes for all that could be taken for more than text; whoever reads it gets the same value. */
export function toPrintableJson(value: unknown, indent?: number): string {
  return toPrintableLines(JSON.stringify(value, null, indent));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
