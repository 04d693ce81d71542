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

/** A set of lines, given out in an order that depends on nothing but the lines. */
export class LineSet {
  readonly #lines = new Map<string, CanonicalLine>();

  add(line: CanonicalLine): void {
    const key = keyOf(line);
    if (!this.#lines.has(key)) this.#lines.set(key, line);
  }

  sorted(): readonly CanonicalLine[] {
    const keys = [...this.#lines.keys()].sort();
    return keys.map((key) => this.#lines.get(key)).filter((line) => line !== undefined);
  }
}

/** Injective: no part can hold a NUL, and an absent part differs from an empty one. */
function keyOf({ op, path, target, outcome, program, refusedBy, digest }: CanonicalLine): string {
  return [op, path, target, outcome, program, refusedBy, digest]
    .map((part) => (part === undefined ? '' : `=${part}`))
    .join('\0');
}
