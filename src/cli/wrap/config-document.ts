/** A part of a text; the end is not in it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface ValueSpan<T> extends Span {
  readonly value: T;
}

/** An MCP server as the configuration of a client has it. */
export interface ServerEntry {
  readonly name: string;
  /** Where it stands, if a file has several lists: `/srv/project` in the file of Claude. */
  readonly scope?: string | undefined;
  readonly command?: ValueSpan<string> | undefined;
  readonly args?: ValueSpan<readonly string[]> | undefined;
  /** Variables that the client sets for it. */
  readonly envNames: readonly string[];
  /** Of a server that is not started but called. */
  readonly url?: string | undefined;
  /** Why it cannot be understood. */
  readonly problem?: string | undefined;
}

/** Where text for arguments goes that are not there yet, and on which side of the place. */
export interface Insertion {
  readonly at: number;
  readonly side: 'before' | 'after';
  readonly text: string;
}

/** A configuration, and how something is written in it so that the rest stays as it is, byte by byte. */
export interface ConfigDocument {
  readonly text: string;
  readonly servers: readonly ServerEntry[];
  writeString(value: string): string;
  /** In the form of the list that it replaces. */
  writeList(values: readonly string[], old: Span): string;
  insertArgs(entry: ServerEntry, values: readonly string[]): Insertion;
  /** Where an insertion of this length would have gone. */
  findInserted(entry: ServerEntry, length: number): Span;
}

export interface Edit extends Span {
  readonly text: string;
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** `4:7`. */
export function describePlace(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`;
}
