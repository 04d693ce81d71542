import { applyEdits, type Edit } from './config-document.ts';

const CONTEXT = 1;

interface Hunk {
  /** Lines of the old text, from 0; the end is not in it. */
  readonly start: number;
  readonly end: number;
  readonly edits: readonly Edit[];
}

/** The lines that the edits change, with one line around, in the form of `diff -u`. */
export function renderDiff(file: string, text: string, edits: readonly Edit[]): string {
  const lines = text.split('\n');
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const hunks = groupEdits(edits, (offset) => findLine(starts, offset));
  const body = hunks.flatMap(({ start, end, edits: own }) => {
    const from = starts[start] ?? 0;
    const to = (starts[end] ?? text.length + 1) - 1;
    const moved = own.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    const changed = applyEdits(text.slice(from, to), moved).split('\n');
    const before = lines.slice(Math.max(0, start - CONTEXT), start);
    const after = lines.slice(end, end + CONTEXT);
    const oldCount = before.length + (end - start) + after.length;
    const newCount = before.length + changed.length + after.length;
    return [
      `@@ -${start - before.length + 1},${oldCount} +${start - before.length + 1},${newCount} @@`,
      ...before.map((line) => ` ${line}`),
      ...lines.slice(start, end).map((line) => `-${line}`),
      ...changed.map((line) => `+${line}`),
      ...after.map((line) => ` ${line}`),
    ];
  });
  return [`--- ${file}`, `+++ ${file}`, ...body, ''].join('\n');
}

function findLine(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? Infinity) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function groupEdits(edits: readonly Edit[], lineOf: (offset: number) => number): Hunk[] {
  const hunks: Hunk[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const start = lineOf(edit.start);
    const end = lineOf(edit.end) + 1;
    const last = hunks.at(-1);
    if (last && start <= last.end + CONTEXT)
      hunks[hunks.length - 1] = {
        start: last.start,
        end: Math.max(end, last.end),
        edits: [...last.edits, edit],
      };
    else hunks.push({ start, end, edits: [edit] });
  }
  return hunks;
}
