import type { Basis } from '../../observe/event.ts';

/** One fact of a run in its general form. Two runs that did the same have the same set of lines. */
export interface CanonicalLine {
  readonly op: string;
  readonly path: string;
  /** Where a rename, a link or a script leads. */
  readonly target?: string | undefined;
  readonly outcome: string;
  /** The image of the program that did it; `assay` for the first one. */
  readonly program: string;
  /** The rule that refused it, empty when nothing allows it; absent when it was not refused. */
  readonly refusedBy?: string | undefined;
  /** Of what was executed, where the path alone does not tell. */
  readonly digest?: string | undefined;
  /** When it was first seen, from the start of the record on; not part of what a line is. */
  readonly atMs?: number | undefined;
  /** How it is known, where in several ways as {@link BASES} has it; not part of what a line is. */
  readonly basis?: Basis | undefined;
}

/** Each line once, in an order that depends on nothing but the lines. */
export function sortLines(lines: readonly CanonicalLine[]): readonly CanonicalLine[] {
  const kept: CanonicalLine[] = [];
  for (const line of lines.toSorted(compareLines)) {
    const before = kept.at(-1);
    if (before === undefined || compareLines(before, line) !== 0) kept.push(line);
    else kept[kept.length - 1] = mergeLines(before, line);
  }
  return kept;
}

/** The later one goes for both: the weaker, but what was seen once need not be predicted. */
const BASES: readonly (Basis | undefined)[] = [undefined, 'predicted', 'performed', 'observed'];

/** One line of two that say the same. */
function mergeLines(a: CanonicalLine, b: CanonicalLine): CanonicalLine {
  const atMs = Math.min(a.atMs ?? Infinity, b.atMs ?? Infinity);
  const basis = BASES.indexOf(a.basis) < BASES.indexOf(b.basis) ? b.basis : a.basis;
  if (atMs === a.atMs && basis === a.basis) return a;
  return { ...a, basis, ...(atMs < Infinity && { atMs }) };
}

export function compareLines(a: CanonicalLine, b: CanonicalLine): number {
  return (
    compareTexts(a.op, b.op) ||
    compareTexts(a.path, b.path) ||
    compareTexts(a.target, b.target) ||
    compareTexts(a.outcome, b.outcome) ||
    compareTexts(a.program, b.program) ||
    compareTexts(a.refusedBy, b.refusedBy) ||
    compareTexts(a.digest, b.digest)
  );
}

/** By UTF-16 code units; what is absent comes first. */
function compareTexts(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  return b === undefined || a > b ? 1 : -1;
}
