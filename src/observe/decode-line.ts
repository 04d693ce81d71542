import type { Basis, FileOp, Move, NetworkOp } from './event.ts';
import { decodeName } from '../core/name-bytes.ts';
import { FOREIGN_SOCKET } from '../plan/broker.ts';

const FILE_OPS: readonly FileOp[] = [
  'read',
  'write',
  'create',
  'mkdir',
  'mknod',
  'symlink',
  'unlink',
  'rmdir',
  'rename',
  'link',
  'truncate',
  'chmod',
  'chown',
  'utimes',
  'xattr',
];

/** A limit, or the guard against set-user-id files, stands in for the operation that it refused. */
export type GuardOp = 'limit-files' | 'setuid';
export type LineOp = FileOp | NetworkOp | 'exec' | GuardOp;

export const LINE_OPS: readonly LineOp[] = [
  ...FILE_OPS,
  'exec',
  'connect',
  'bind',
  'limit-files',
  'setuid',
  'resolve',
];

const OPS_BY_NAME: ReadonlyMap<unknown, LineOp> = new Map(LINE_OPS.map((op) => [op, op]));

/** By number, in which they are told and stored. */
export const MOVES: readonly Move[] = ['plain', 'exchange', 'back', 'none'];

const BASES: Readonly<Record<string, Basis>> = { p: 'performed', o: 'observed', d: 'predicted' };

/** What the helper says beside its record; read elsewhere. */
const OTHER_LINES: ReadonlySet<string> = new Set([
  'failed',
  'abi',
  'exec',
  'end',
  'refused',
  'refusals',
  'gitDir',
]);

/** Longer than any path can be; what is longer did not come from a kernel. */
const MAX_TEXT_LENGTH = 1 << 14;

const STATES =
  /^\d{1,20}:\d{1,20}:\d{1,19}:-?\d{1,20}:(?:-?\d{1,20})?(?:,\d{1,20}:\d{1,20}:\d{1,19}:-?\d{1,20}:(?:-?\d{1,20})?)?$/;

export interface EventLine {
  readonly type: 'event';
  readonly id: number;
  readonly program: number;
  readonly op: LineOp;
  readonly path: string;
  readonly requested: string;
  /** 0 is success, -1 a failure of which no more is known. */
  readonly errno: number;
  readonly basis: Basis;
  /** 0 when nothing of ours refused; a rule of the broker; -1 the git guard; -2 when nothing allows it; -3 a foreign socket. */
  readonly rule: number;
  readonly target: string;
  readonly isDirectory: boolean;
  readonly isReplacing: boolean;
  readonly isKernel: boolean;
  readonly move: Move;
  /** Has a place among the changes, though the same was told before: what paths mean depends on it. */
  readonly isToldEachTime: boolean;
  /** `dev:ino:size:mtimeNs:ctimeNs`, or nothing; of a rename, the same of what it replaced behind a comma. */
  readonly state: string;
  /** When it was first seen, from the start of the record on. */
  readonly atMs: number;
}

/** The file that an image was read from, to tell whether it is still the same. */
export interface ImageState {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

export interface ProgramLine {
  readonly type: 'program';
  readonly id: number;
  readonly parent: number;
  readonly image: string;
  readonly script: string;
  readonly state: ImageState;
  readonly digest: string;
  readonly atMs: number;
  readonly isPredicted: boolean;
}

export interface CommandLine {
  readonly type: 'command';
  readonly program: number;
  readonly argv: readonly string[];
  readonly isTruncated: boolean;
}

/** Which program has a socket that was connected to a door, or to what leads to one. */
export interface SocketLine {
  readonly type: 'socket';
  readonly program: number;
  /** Its own. */
  readonly port: number;
  /** Where to, such as `tcp:127.0.0.1:80`. */
  readonly address: string;
  readonly atMs: number;
}

type Pair = readonly [number, number];

export type Line =
  | EventLine
  | ProgramLine
  | CommandLine
  | SocketLine
  | { readonly type: 'event-counts' | 'program-counts' | 'pids'; readonly pairs: readonly Pair[] }
  | { readonly type: 'lost' | 'unread'; readonly count: number }
  /** `absent`: something was looked for that is out of sight; told elsewhere, and numbered as events are. */
  | { readonly type: 'absent' | 'other' };

/** One line of the helper's record; undefined when it cannot be understood, and so what it said is lost. */
export function decodeLine(raw: string): Line | undefined {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const [key] = Object.keys(value);
  if (key === undefined) return undefined;
  const body: unknown = (value as Readonly<Record<string, unknown>>)[key];
  if (OTHER_LINES.has(key)) return { type: 'other' };
  if (key === 'absent') return { type: 'absent' };
  if (key === 'lost' || key === 'unread')
    return isCount(body) ? { type: key, count: body } : undefined;
  if (!Array.isArray(body)) return undefined;
  return decodeBody(key, body as readonly unknown[]);
}

function decodeBody(key: string, body: readonly unknown[]): Line | undefined {
  switch (key) {
    case 'e':
      return decodeEvent(body);
    case 'p':
      return decodeProgram(body);
    case 'a':
      return decodeCommand(body);
    case 's':
      return decodeSocket(body);
    case 'c':
      return body.every(isPair) ? { type: 'event-counts', pairs: body } : undefined;
    case 'n':
      return body.every(isPair) ? { type: 'program-counts', pairs: body } : undefined;
    case 'pids':
      return body.every(isPair) ? { type: 'pids', pairs: body } : undefined;
    default:
      return undefined;
  }
}

function decodeEvent(body: readonly unknown[]): EventLine | undefined {
  const [id, program, op, path, requested, errno, basis, rule, target, flags, state, atMs] = body;
  if (body.length !== 12 || !isCount(atMs) || !isCount(id) || !isCount(program) || !isCount(flags))
    return undefined;
  if (!Number.isInteger(errno) || !Number.isInteger(rule)) return undefined;
  if (!isText(path) || !isText(requested) || !isText(target) || !isText(state)) return undefined;
  const known = OPS_BY_NAME.get(op);
  const how = typeof basis === 'string' && Object.hasOwn(BASES, basis) ? BASES[basis] : undefined;
  if (known === undefined || how === undefined) return undefined;
  if ((errno as number) < -1 || (rule as number) < FOREIGN_SOCKET.id || (rule as number) >= 2 ** 31)
    return undefined;
  if (state !== '' && !STATES.test(state)) return undefined;
  return {
    type: 'event',
    id,
    program,
    op: known,
    path: decodeName(path),
    requested: decodeName(requested),
    errno: errno as number,
    basis: how,
    rule: rule as number,
    target: decodeName(target),
    isDirectory: (flags & 1) !== 0,
    isReplacing: (flags & 2) !== 0,
    isKernel: (flags & 4) !== 0,
    move: MOVES[(flags >> 3) & 3] ?? 'plain',
    isToldEachTime: (flags & 32) !== 0,
    state,
    atMs,
  };
}

function decodeProgram(body: readonly unknown[]): ProgramLine | undefined {
  const [id, parent, image, script, dev, ino, size, mtimeNs, ctimeNs, digest, atMs, isPredicted] =
    body;
  if (body.length !== 12 || !isCount(atMs) || !isCount(id) || id === 0 || !isCount(parent))
    return undefined;
  if (!isText(image) || !isText(script)) return undefined;
  if (!isText(dev) || !isText(ino) || !isText(size)) return undefined;
  if (!isText(mtimeNs) || !isText(ctimeNs)) return undefined;
  if (typeof digest !== 'string' || !/^(?:[0-9a-f]{64})?$/.test(digest)) return undefined;
  return {
    type: 'program',
    id,
    parent,
    image: decodeName(image),
    script: decodeName(script),
    state: { dev, ino, size, mtimeNs, ctimeNs },
    digest,
    atMs,
    isPredicted: Boolean(isPredicted),
  };
}

function decodeCommand(body: readonly unknown[]): CommandLine | undefined {
  const [program, argv, isTruncated] = body;
  if (body.length !== 3 || !isCount(program) || !Array.isArray(argv)) return undefined;
  const texts = argv as readonly unknown[];
  if (!texts.every(isBytes)) return undefined;
  return {
    type: 'command',
    program,
    argv: texts.map(decodeName),
    isTruncated: Boolean(isTruncated),
  };
}

function decodeSocket(body: readonly unknown[]): SocketLine | undefined {
  const [program, port, address, atMs] = body;
  if (body.length !== 4 || !isCount(program) || !isCount(port) || !isCount(atMs)) return undefined;
  if (!isText(address) || port > 0xffff) return undefined;
  return { type: 'socket', program, port, address: decodeName(address), atMs };
}

/** An unsigned number of 32 bits, which all of the helper's are. */
function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
}

function isPair(value: unknown): value is Pair {
  return Array.isArray(value) && value.length === 2 && isCount(value[0]) && isCount(value[1]);
}

function isBytes(value: unknown): value is string {
  return typeof value === 'string' && !/[^\0-\xff]/.test(value);
}

function isText(value: unknown): value is string {
  return isBytes(value) && value.length <= MAX_TEXT_LENGTH;
}
