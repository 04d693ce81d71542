import type { ConfigDocument, Insertion, ServerEntry, Span, ValueSpan } from './config-document.ts';
import { findMember, type JsonNode, parseJsonc } from './jsonc.ts';

/** The configuration of most clients: `mcpServers`, or `servers`. */
export class JsonConfig implements ConfigDocument {
  readonly text: string;
  readonly servers: readonly ServerEntry[];

  constructor(text: string) {
    this.text = text;
    this.servers = listServers(parseJsonc(text));
  }

  writeString(value: string): string {
    return JSON.stringify(value);
  }

  writeList(values: readonly string[], old: Span): string {
    const written = this.text.slice(old.start, old.end);
    const lines = /^\[(\s*\n([ \t]*))/.exec(written);
    if (!lines) return `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
    const newline = written.includes('\r\n') ? '\r\n' : '\n';
    const indent = lines[2] ?? '';
    const close = /\n([ \t]*)\]$/.exec(written)?.[1] ?? '';
    const items = values.map((value) => `${newline}${indent}${JSON.stringify(value)}`).join(',');
    return `[${items}${newline}${close}]`;
  }

  insertArgs({ command }: ServerEntry, values: readonly string[]): Insertion {
    const at = command?.end ?? 0;
    const line = this.text.slice(this.text.lastIndexOf('\n', command?.start) + 1, command?.start);
    // On a line of its own, if the command is.
    const own = /^([ \t]*)"command"\s*:\s*$/.exec(line);
    const newline = this.text.includes('\r\n') ? '\r\n' : '\n';
    const gap = own ? `${newline}${own[1]}` : ' ';
    const list = values.map((value) => JSON.stringify(value)).join(', ');
    return { at, side: 'after', text: `,${gap}"args": [${list}]` };
  }

  findInserted({ command }: ServerEntry, length: number): Span {
    const start = command?.end ?? 0;
    return { start, end: start + length };
  }
}

function listServers(root: JsonNode): ServerEntry[] {
  if (root.kind !== 'object') throw new Error('1:1: it is not an object');
  const lists = [
    { node: findMember(root, 'mcpServers')?.value },
    { node: findMember(root, 'servers')?.value },
    { node: findMember(findMember(root, 'mcp')?.value, 'servers')?.value },
  ];
  const projects = findMember(root, 'projects')?.value;
  const scoped =
    projects?.kind === 'object'
      ? projects.members.map(({ name, value }) => ({
          scope: name,
          node: findMember(value, 'mcpServers')?.value,
        }))
      : [];
  return [...lists, ...scoped].flatMap(({ node, ...more }) =>
    node?.kind === 'object'
      ? node.members.map(({ name, value }) => ({ ...readServer(name, value), ...more }))
      : [],
  );
}

function readServer(name: string, node: JsonNode): ServerEntry {
  const env = findMember(node, 'env')?.value;
  const url = ['url', 'httpUrl', 'serverUrl']
    .map((key) => findMember(node, key)?.value)
    .find((value) => value !== undefined);
  const command = findMember(node, 'command')?.value;
  const args = findMember(node, 'args')?.value;
  const list = args && readList(args);
  return {
    name,
    command: command?.kind === 'string' ? command : undefined,
    args: list,
    envNames: env?.kind === 'object' ? env.members.map((member) => member.name) : [],
    url: url?.kind === 'string' ? url.value : undefined,
    problem: args && !list ? 'its args are not a list of strings' : undefined,
  };
}

function readList(node: JsonNode): ValueSpan<readonly string[]> | undefined {
  if (node.kind !== 'array') return undefined;
  const values = node.items.flatMap((item) => (item.kind === 'string' ? [item.value] : []));
  return values.length === node.items.length
    ? { value: values, start: node.start, end: node.end }
    : undefined;
}
