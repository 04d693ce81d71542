import { splitPath } from './glob.ts';
import { readTokens, type Token } from './segment.ts';

/** Is there a path that both patterns cover? */
export function canOverlap(first: string, second: string): boolean {
  return canMeet([...splitPath(first), '**'], [...splitPath(second), '**'], {
    isStar: (segment) => segment === '**',
    canBothMatch: canSegmentsMeet,
  });
}

function canSegmentsMeet(first: string, second: string): boolean {
  if (first === second) return true;
  return canMeet(readTokens(first), readTokens(second), {
    isStar: (token) => token.kind === 'star',
    canBothMatch: canTokensMeet,
  });
}

interface Elements<T> {
  isStar(element: T): boolean;
  canBothMatch(first: T, second: T): boolean;
}

/**
 * Two sequences with stars match a common one when the end can be reached by walking both at once: paths are
 * sequences of segments and segments are sequences of characters, so one walk serves both.
 */
function canMeet<T>(first: readonly T[], second: readonly T[], elements: Elements<T>): boolean {
  const width = second.length + 1;
  const isReached = new Uint8Array((first.length + 1) * width);
  isReached[0] = 1;
  for (let i = 0; i <= first.length; i++) {
    for (let j = 0; j <= second.length; j++) {
      if (isReached[i * width + j] === 0) continue;
      const a = first[i];
      const b = second[j];
      const hasStar =
        (a !== undefined && elements.isStar(a)) || (b !== undefined && elements.isStar(b));
      if (hasStar) {
        // A star ends here, or takes one more element of the other side.
        if (a !== undefined) isReached[(i + 1) * width + j] = 1;
        if (b !== undefined) isReached[i * width + j + 1] = 1;
      } else if (a !== undefined && b !== undefined && elements.canBothMatch(a, b)) {
        isReached[(i + 1) * width + j + 1] = 1;
      }
    }
  }
  return isReached[isReached.length - 1] === 1;
}

type Range = readonly [number, number];

function canTokensMeet(first: Token, second: Token): boolean {
  const others = toRanges(second);
  return toRanges(first).some(([low, high]) =>
    others.some(([otherLow, otherHigh]) => low <= otherHigh && otherLow <= high),
  );
}

const LAST_CODE = 0x10ffff;

function toRanges(token: Token): readonly Range[] {
  if (token.kind === 'char') return [[token.code, token.code]];
  if (token.kind !== 'set') return [[0, LAST_CODE]];
  return token.isNegated ? invertRanges(token.ranges) : token.ranges.filter(([a, b]) => a <= b);
}

function invertRanges(ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let next = 0;
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (low > next) gaps.push([next, low - 1]);
    next = Math.max(next, high + 1);
  }
  if (next <= LAST_CODE) gaps.push([next, LAST_CODE]);
  return gaps;
}
