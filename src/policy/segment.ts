/** One element of a pattern segment. Characters are code points. */
export type Token =
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'set';
      readonly isNegated: boolean;
      readonly ranges: readonly (readonly [number, number])[];
    };

const BACKSLASH = 0x5c;
const STAR = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const DASH = 0x2d;
const BANG = 0x21;
const CARET = 0x5e;

export function toCodes(text: string): number[] {
  return Array.from(text, (char) => char.codePointAt(0) ?? 0);
}

export function readTokens(segment: string): Token[] {
  const codes = toCodes(segment);
  const tokens: Token[] = [];
  let at = 0;
  while (at < codes.length) {
    const code = codes[at] ?? 0;
    const set = code === OPEN ? readSet(codes, at) : undefined;
    if (set) {
      tokens.push(set.token);
      at = set.next;
      continue;
    }
    const escaped = code === BACKSLASH ? codes[at + 1] : undefined;
    if (escaped !== undefined) tokens.push({ kind: 'char', code: escaped });
    else if (code === STAR) tokens.push({ kind: 'star' });
    else if (code === QUESTION) tokens.push({ kind: 'any' });
    else tokens.push({ kind: 'char', code });
    at += escaped === undefined ? 1 : 2;
  }
  return tokens;
}

/** Reads the set that opens at `start`; undefined when it is never closed. */
export function readSet(
  codes: readonly number[],
  start: number,
): { token: Token & { kind: 'set' }; next: number } | undefined {
  let at = start + 1;
  const isNegated = codes[at] === BANG || codes[at] === CARET;
  if (isNegated) at++;
  const ranges: [number, number][] = [];
  const member = (): number => {
    if (codes[at] === BACKSLASH && at + 1 < codes.length) at++;
    return codes[at++] ?? 0;
  };
  while (at < codes.length) {
    if (codes[at] === CLOSE && ranges.length > 0) {
      return { token: { kind: 'set', isNegated, ranges }, next: at + 1 };
    }
    const low = member();
    const isRange = codes[at] === DASH && at + 1 < codes.length && codes[at + 1] !== CLOSE;
    if (isRange) at++;
    ranges.push([low, isRange ? member() : low]);
  }
  return undefined;
}

export function matchSegment(segment: string, name: string): boolean {
  if (!/[*?[\\]/.test(segment)) return segment === name;
  return matchTokens(readTokens(segment), toCodes(name));
}

/** Goes back to the last star only, so the time is at most tokens × characters. */
function matchTokens(tokens: readonly Token[], codes: readonly number[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < codes.length) {
    const current = tokens[token];
    if (current?.kind === 'star') {
      star = token++;
      starAt = at;
    } else if (current && matchesOne(current, codes[at] ?? 0)) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'star') token++;
  return token === tokens.length;
}

function matchesOne(token: Token, code: number): boolean {
  if (token.kind === 'char') return token.code === code;
  if (token.kind === 'set') {
    return token.ranges.some(([low, high]) => low <= code && code <= high) !== token.isNegated;
  }
  return true;
}
