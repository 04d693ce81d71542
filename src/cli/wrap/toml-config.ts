import type { ConfigDocument, Insertion, ServerEntry, Span, ValueSpan } from './config-document.ts';
import { parseToml, type TomlEntry, type TomlValue } from './toml.ts';

const LIST = 'mcp_servers';
const DOTTED = /^(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*)*/;

/** The configuration of Codex: `[mcp_servers.NAME]`, or the same as an inline table. */
export class TomlConfig implements ConfigDocument {
  readonly text: string;
  readonly servers: readonly ServerEntry[];
  readonly #keyStarts = new Map<ServerEntry, number>();
  readonly #inline = new Set<ServerEntry>();

  constructor(text: string) {
    this.text = text;
    const entries = parseToml(text).filter(({ path }) => path[0] === LIST);
    const names = new Set(entries.flatMap(({ path }) => path[1] ?? []));
    const tables = entries.flatMap(({ value }) => (value.kind === 'table' ? [value] : []));
    this.servers = Array.from(names, (name) => {
      const own = entries.filter(({ path }) => path[1] === name);
      const server = readServer(name, own);
      const key = find(own, ['command']);
      if (key) this.#keyStarts.set(server, key.keyStart);
      if (key && tables.some(({ start, end }) => start < key.keyStart && key.keyStart < end))
        this.#inline.add(server);
      return server;
    });
  }

  writeString(value: string): string {
    // The escapes of JSON are escapes of TOML, but for the slash, which JSON.stringify leaves alone.
    return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  }

  writeList(values: readonly string[], old: Span): string {
    const written = this.text.slice(old.start, old.end);
    const lines = /^\[\s*\n([ \t]*)/.exec(written);
    if (!lines) return this.#writeOneLine(values);
    const close = /\n([ \t]*)\]$/.exec(written)?.[1] ?? '';
    const items = values.map((value) => `\n${lines[1]}${this.writeString(value)},`).join('');
    return `[${items}\n${close}]`;
  }

  insertArgs(entry: ServerEntry, values: readonly string[]): Insertion {
    const at = this.#keyStarts.get(entry) ?? 0;
    const indent = /[ \t]*$/.exec(this.text.slice(0, at))?.[0] ?? '';
    const gap = this.#inline.has(entry) ? ', ' : `\n${indent}`;
    // What stands before the key where the table is written into it: `mcp_servers.name.command`.
    const key = DOTTED.exec(this.text.slice(at))?.[0] ?? '';
    // Before the command, behind which there may be a comment.
    return { at, side: 'before', text: `${key}args = ${this.#writeOneLine(values)}${gap}` };
  }

  findInserted(entry: ServerEntry, length: number): Span {
    const end = this.#keyStarts.get(entry) ?? 0;
    return { start: Math.max(0, end - length), end };
  }

  #writeOneLine(values: readonly string[]): string {
    return `[${values.map((value) => this.writeString(value)).join(', ')}]`;
  }
}

function find(entries: readonly TomlEntry[], below: readonly string[]): TomlEntry | undefined {
  return entries.findLast(
    ({ path }) =>
      path.length === below.length + 2 && below.every((key, at) => path[at + 2] === key),
  );
}

function readServer(name: string, entries: readonly TomlEntry[]): ServerEntry {
  const command = find(entries, ['command'])?.value;
  const args = find(entries, ['args'])?.value;
  const url = find(entries, ['url'])?.value;
  const list = args && readList(args);
  return {
    name,
    command: command?.kind === 'string' ? command : undefined,
    args: list,
    envNames: entries.flatMap(({ path }) => (path[2] === 'env' && path[3] ? [path[3]] : [])),
    url: url?.kind === 'string' ? url.value : undefined,
    problem: args && !list ? 'its args are not a list of strings' : undefined,
  };
}

function readList(value: TomlValue): ValueSpan<readonly string[]> | undefined {
  if (value.kind !== 'array') return undefined;
  const values = value.items.flatMap((item) => (item.kind === 'string' ? [item.value] : []));
  return values.length === value.items.length
    ? { value: values, start: value.start, end: value.end }
    : undefined;
}
