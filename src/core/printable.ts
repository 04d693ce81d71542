/** Names come from programs and from the workspace: an escape sequence or a line break in one must stay a name. */
export function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escapeCharacter);
}

/** For text of several lines: breaks and tabs stay. */
export function toPrintableLines(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  );
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
