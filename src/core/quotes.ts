/** A quote in a quote in a quote is the most that can be told apart. */
const MAX_DEPTH = 3;

/** What ends a command, or begins one. */
const COMMAND_END = /[\n;&|()`<>]/;

/**
 * Where the quoted parts of a text end, by where they begin; those inside others as well. The text is read from its
 * start, since the quote that ends one part looks as if it began the next.
 */
export function mapQuotes(text: string): Map<number, number> {
  const ends = new Map<number, number>();
  if (/["']/.test(text)) mapPart(text, { from: 0, to: text.length, depth: 0 }, ends);
  return ends;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
}

function mapPart(text: string, { from, to, depth }: Part, ends: Map<number, number>): void {
  for (let at = from; at < to; at++) {
    const character = text[at];
    if (character === '\\') {
      at = mapEscaped(text, { from: at, to, depth }, ends);
      continue;
    }
    if (character !== '"' && character !== "'") continue;
    const end = character === '"' ? findDouble(text, at + 1, to) : findSingle(text, at + 1, to);
    ends.set(at, Math.min(end + 1, to));
    if (depth < MAX_DEPTH) mapPart(text, { from: at + 1, to: end, depth: depth + 1 }, ends);
    at = end;
  }
}

/** `\"abc\"` inside of quotes; outside they are letters, and no command is between two of them. */
function mapEscaped(text: string, { from, to, depth }: Part, ends: Map<number, number>): number {
  if (text[from + 1] !== '"') return from + 1;
  const end = text.indexOf('\\"', from + 2);
  if (end < 0 || end + 2 > to) return from + 1;
  if (depth === 0 && COMMAND_END.test(text.slice(from, end))) return from + 1;
  ends.set(from, end + 2);
  return end + 1;
}

function findDouble(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, to);
}

function findSingle(text: string, from: number, to: number): number {
  const end = text.indexOf("'", from);
  return end < 0 ? to : Math.min(end, to);
}

/** One quoted word: its quotes, and what is between them. */
export function splitQuotes(
  word: string,
): { readonly open: string; readonly text: string; readonly close: string } | undefined {
  const [, open = ''] = /^(["'])/.exec(word) ?? [];
  if (open === '') return undefined;
  const end = open === '"' ? findDouble(word, 1, word.length) : findSingle(word, 1, word.length);
  if (end < word.length - 1) return undefined;
  return { open, text: word.slice(1, end), close: word.slice(end) };
}

export function unquote(value: string): string {
  return value.replace(/^\\?["']/, '').replace(/\\?["']$/, '');
}
