import { basename } from 'node:path';
import type { ConfigDocument, Edit, ServerEntry } from './config-document.ts';

/** How servers are started from now on. */
export interface WrapCommand {
  /** assay itself. */
  readonly program: string;
  /** Of `assay sandbox`: which policy. */
  readonly flags: readonly string[];
}

/** What was there, as it was written, so that it can be put back byte by byte. */
export interface WrapRecord {
  readonly command: { readonly old: string; readonly new: string };
  readonly args: { readonly old: string; readonly new: string } | null;
  /** Of a server that had no args. */
  readonly inserted: string | null;
}

export type ServerPlan =
  | { readonly entry: ServerEntry; readonly kind: 'left'; readonly reason: string }
  | {
      readonly entry: ServerEntry;
      readonly kind: 'edited';
      readonly edits: readonly Edit[];
      readonly record?: WrapRecord;
      readonly note?: string | undefined;
    };

export function isWrapped({ command, args }: ServerEntry): boolean {
  const [first] = args?.value ?? [];
  return (
    ['assay', 'assay.js'].includes(basename(command?.value ?? '')) &&
    first === 'sandbox' &&
    (args?.value.includes('--') ?? false)
  );
}

/** Puts one server under `assay sandbox`. */
export function planWrap(
  document: ConfigDocument,
  entry: ServerEntry,
  { program, flags }: WrapCommand,
): ServerPlan {
  const { command, args, envNames, url, problem } = entry;
  const leave = (reason: string): ServerPlan => ({ entry, kind: 'left', reason });
  if (problem !== undefined) return leave(problem);
  if (url !== undefined) return leave(`it is remote (${url}), and not started here`);
  if (!command) return leave('it has no command');
  if (isWrapped(entry)) return leave('it is under assay already; --undo takes it out');
  if (/\s/.test(command.value) && !args)
    return leave('its command has spaces: put the arguments into args first');
  const env = envNames.length > 0 ? ['--env-allow', envNames.join(',')] : [];
  const values = [
    'sandbox',
    '--quiet',
    ...flags,
    ...env,
    '--',
    command.value,
    ...(args?.value ?? []),
  ];
  const text = document.writeString(program);
  const edits: Edit[] = [{ start: command.start, end: command.end, text }];
  const old = document.text.slice(command.start, command.end);
  if (args) {
    const list = document.writeList(values, args);
    edits.push({ start: args.start, end: args.end, text: list });
    const record = {
      command: { old, new: text },
      args: { old: document.text.slice(args.start, args.end), new: list },
      inserted: null,
    };
    return { entry, kind: 'edited', edits, record };
  }
  const insertion = document.insertArgs(entry, values);
  edits.push({ start: insertion.at, end: insertion.at, text: insertion.text });
  const record = { command: { old, new: text }, args: null, inserted: insertion.text };
  return { entry, kind: 'edited', edits, record };
}

/** Takes one server out again: exactly, where what was written is still there; otherwise by what it means. */
export function planUndo(
  document: ConfigDocument,
  entry: ServerEntry,
  record: WrapRecord | undefined,
): ServerPlan {
  const { command, args } = entry;
  if (!command || !args || !isWrapped(entry))
    return { entry, kind: 'left', reason: 'it is not under assay' };
  const exact = record && undoExactly(document, entry, record);
  if (exact) return { entry, kind: 'edited', edits: exact };
  const [program = '', ...rest] = args.value.slice(args.value.indexOf('--') + 1);
  return {
    entry,
    kind: 'edited',
    edits: [
      { start: command.start, end: command.end, text: document.writeString(program) },
      { start: args.start, end: args.end, text: document.writeList(rest, args) },
    ],
    note: 'it was changed since, so its command is written anew',
  };
}

function undoExactly(
  document: ConfigDocument,
  entry: ServerEntry,
  record: WrapRecord,
): Edit[] | undefined {
  const { text } = document;
  const { command, args } = entry;
  if (!command || !args || text.slice(command.start, command.end) !== record.command.new)
    return undefined;
  const restored = { start: command.start, end: command.end, text: record.command.old };
  if (record.args) {
    if (text.slice(args.start, args.end) !== record.args.new) return undefined;
    return [restored, { start: args.start, end: args.end, text: record.args.old }];
  }
  const inserted = record.inserted ?? '';
  const span = document.findInserted(entry, inserted.length);
  if (text.slice(span.start, span.end) !== inserted) return undefined;
  return [restored, { ...span, text: '' }];
}
