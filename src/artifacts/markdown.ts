import { toPrintable } from '../core/printable.ts';

/*
 * Names come from programs. In Markdown a name stands in a code span only, where nothing but the end of the span has a
 * meaning, on one line, without anything that could turn the direction of the text.
 */

const MAX_LENGTH = 300;

export function code(text: string): string {
  const printable = shorten(toPrintable(text));
  if (printable === '') return '(empty)';
  const longest = Math.max(0, ...(printable.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  // A span that starts or ends with a backtick or a space loses it otherwise.
  const pad = /^[` ]|[` ]$/.test(printable) ? ' ' : '';
  return `${fence}${pad}${printable}${pad}${fence}`;
}

/** A row of a table. A bar ends a cell, also in a code span. */
export function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [
    row(...head),
    `|${head.map(() => ' --- |').join('')}`,
    ...rows.map((cells) => row(...cells)),
  ];
}

/** The first of many, and how many more there are. */
export function firstOf<T>(
  values: readonly T[],
  max: number,
): { readonly shown: readonly T[]; readonly more: number } {
  return { shown: values.slice(0, max), more: Math.max(0, values.length - max) };
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function shorten(text: string): string {
  return text.length <= MAX_LENGTH
    ? text
    : `${text.slice(0, MAX_LENGTH - 60)} … ${text.slice(-50)}`;
}
