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
}

/** Each line once, in an order that depends on nothing but the lines. */
export function sortLines(lines: readonly CanonicalLine[]): readonly CanonicalLine[] {
  const sorted = lines.toSorted(compareLines);
  return sorted.filter((line, at) => {
    const before = sorted[at - 1];
    return before === undefined || compareLines(before, line) !== 0;
  });
}

function compareLines(a: CanonicalLine, b: CanonicalLine): number {
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
