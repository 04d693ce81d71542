import { AssayError, type Place } from '../core/errors.ts';

/** Why a piece of policy text cannot be used, before anyone knows where it stands. */
export interface Refusal {
  readonly problem: string;
  readonly hint?: string | undefined;
}

export interface PolicyProblem {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly at?: Place | undefined;
  /** The source line with a caret under the place. */
  readonly snippet?: string | undefined;
}

/** A policy that does not load. It stands for its first problem and carries all of them. */
export class PolicyError extends AssayError {
  readonly problems: readonly PolicyProblem[];

  constructor(problems: readonly PolicyProblem[], cause?: unknown) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (first of ${problems.length} problems)` : '';
    super('E_POLICY_LOAD_FAILED_UNENFORCEABLE', `${first?.message ?? ''}${more}`, {
      hint: first?.hint,
      at: first?.at,
      snippet: first?.snippet,
      cause,
    });
    this.name = 'PolicyError';
    this.problems = problems;
  }
}

/** Every problem as text: place and message, the line with its caret, the hint. */
export function formatProblems(problems: readonly PolicyProblem[]): string {
  return problems
    .map(({ message, hint, at, snippet }) => {
      const place = at ? `${at.file}:${at.line}:${at.column}: ` : '';
      const lines = [`${place}${message}`];
      if (snippet !== undefined) lines.push(snippet);
      if (hint !== undefined) lines.push(`hint: ${hint}`);
      return lines.join('\n');
    })
    .join('\n\n');
}

export function placeAt(text: string, file: string, offset: number): Place {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { file, line: before.split('\n').length, column: offset - lineStart + 1 };
}

const SNIPPET_WIDTH = 80;

/** The line at `place` and a caret under its column; a long line is cut to what is around the caret. */
export function makeSnippet(text: string, place: Place): string {
  const line = (text.split('\n')[place.line - 1] ?? '').replace(/\r$/, '');
  const from = Math.max(
    0,
    Math.min(place.column - 1 - SNIPPET_WIDTH / 2, line.length - SNIPPET_WIDTH),
  );
  const shown = line.slice(from, from + SNIPPET_WIDTH).replace(UNPRINTABLE, '\u00b7');
  return `  ${shown}\n  ${' '.repeat(place.column - 1 - from)}^`;
}

/** What a terminal would act on instead of showing: control, bidirectional and line-separating characters. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A value from a file, quoted so that it can neither break the line nor drive the terminal. */
export function quote(text: string): string {
  const cut = text.length > 120 ? `${text.slice(0, 117)}...` : text;
  return `\`${cut.replace(UNPRINTABLE, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)}\``;
}
