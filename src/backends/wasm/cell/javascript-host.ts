import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { ROOT_FD, type OpenRequest } from './descriptors.ts';
import { FileError } from './errno.ts';
import { type Box, HostRefusal } from './quickjs.ts';
import { programArguments } from './javascript-command.ts';
import type { RunContext } from './run-context.ts';
import { ProgramExit } from './wasi.ts';

const MAX_RANDOM_BYTES = 1 << 16;
const MAX_STDIN_PIECE = 1 << 16;

const READING: OpenRequest = {
  isCreating: false,
  isExclusive: false,
  isTruncating: false,
  isDirectory: false,
  canRead: true,
  canWrite: false,
  isAppending: false,
  isFollowed: true,
};
const WRITING: OpenRequest = { ...READING, isCreating: true, canRead: false, canWrite: true };

/** Arguments come as JSON, or a text as it is. */
type HostCall = (
  op: string,
  text: string,
  bytes: Uint8Array | undefined,
) => string | Uint8Array | Box;

interface HostInput {
  readonly context: RunContext;
  readonly load: (path: string) => Box;
}

function textAt(args: readonly unknown[], index: number): string {
  const value = args[index];
  if (typeof value !== 'string') throw new HostRefusal('A text is expected');
  return value;
}

function numberAt(args: readonly unknown[], index: number): number {
  const value = args[index];
  if (typeof value !== 'number') throw new HostRefusal('A number is expected');
  return value;
}

/** Of JSON that code inside may have made up. */
export function parseInside(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new HostRefusal('Arguments cannot be read');
  }
}

/** Files for JavaScript: whole ones, since that is what programs do with them. */
class JsFiles {
  private readonly context: RunContext;

  constructor(context: RunContext) {
    this.context = context;
  }

  path(args: readonly unknown[], index = 0): string {
    return posix.resolve(this.context.request.cwd, textAt(args, index));
  }

  read(path: string): Uint8Array {
    const { line } = this.context;
    const fd = line.file('openAt', ROOT_FD, path, READING);
    try {
      const pieces: Uint8Array[] = [];
      for (;;) {
        const piece = line.file('read', fd, 1 << 20, undefined);
        if (piece.length === 0) return Buffer.concat(pieces);
        pieces.push(piece);
      }
    } finally {
      line.file('close', fd);
    }
  }

  write(path: string, data: Uint8Array, isAppending: boolean): void {
    const { line } = this.context;
    const request = { ...WRITING, isAppending, isTruncating: !isAppending };
    const fd = line.file('openAt', ROOT_FD, path, request);
    try {
      for (let at = 0; at < data.length;)
        at += line.file('write', fd, data.subarray(at, at + (1 << 20)), undefined);
    } finally {
      line.file('close', fd);
    }
  }

  list(path: string): string {
    const { line } = this.context;
    const fd = line.file('openAt', ROOT_FD, path, { ...READING, isDirectory: true });
    try {
      const names: [string, string][] = [];
      for (let from = 2; ;) {
        const entries = line.file('readDirectory', fd, from);
        if (entries.length === 0) return JSON.stringify(names);
        names.push(...entries.map(({ name, kind }): [string, string] => [name, kind]));
        from += entries.length;
      }
    } finally {
      line.file('close', fd);
    }
  }

  /** Returns nothing for an operation that is not one of files. */
  call(op: string, args: readonly unknown[], bytes: Uint8Array): string | Uint8Array | undefined {
    const { line } = this.context;
    const done = '';
    switch (op) {
      case 'read':
        return this.read(this.path(args));
      case 'write':
      case 'append':
        this.write(this.path(args), bytes, op === 'append');
        return done;
      case 'list':
        return this.list(this.path(args));
      case 'stat':
      case 'lstat':
        return JSON.stringify(line.file('statAt', ROOT_FD, this.path(args), op === 'stat'));
      case 'mkdir':
        line.file('makeDirectory', ROOT_FD, this.path(args));
        return done;
      case 'unlink':
      case 'rmdir':
        line.file('remove', ROOT_FD, this.path(args), op === 'rmdir' ? 'directory' : 'file');
        return done;
      case 'rename':
        line.file('rename', ROOT_FD, this.path(args), ROOT_FD, this.path(args, 1));
        return done;
      case 'symlink':
        line.file('makeLink', textAt(args, 0), ROOT_FD, this.path(args, 1));
        return done;
      case 'readlink':
        return JSON.stringify(line.file('readLink', ROOT_FD, this.path(args)));
      default:
        return undefined;
    }
  }
}

function describeRun({ request, modules, canEval }: RunContext): string {
  const { env, cwd } = request;
  const argv = programArguments(request.argv, cwd);
  return JSON.stringify({ argv, env, cwd, modules, canEval });
}

/** The one function that leads out of QuickJS. What it does is what code inside can do. */
export function makeJsHost({ context, load }: HostInput): HostCall {
  const files = new JsFiles(context);
  const { line, modules } = context;
  const hasFiles = !modules || modules.includes('fs') || modules.includes('fs/promises');
  const act = (
    op: string,
    args: readonly unknown[],
    bytes: Uint8Array,
  ): string | Uint8Array | Box => {
    switch (op) {
      case 'run':
        return describeRun(context);
      case 'stdout':
      case 'stderr':
        line.write(op, bytes);
        return '';
      case 'stdin':
        return line.readStdin(Math.min(numberAt(args, 0), MAX_STDIN_PIECE));
      case 'exit':
        throw new ProgramExit(numberAt(args, 0) & 0xff);
      case 'random':
        return randomBytes(Math.max(0, Math.min(numberAt(args, 0), MAX_RANDOM_BYTES)));
      case 'load':
        return load(files.path(args));
      default: {
        const result = hasFiles ? files.call(op, args, bytes) : undefined;
        if (result === undefined) throw new HostRefusal('There is no such operation');
        return result;
      }
    }
  };
  return (op, text, bytes) => {
    if (op === 'print' || op === 'complain') {
      line.write(op === 'print' ? 'stdout' : 'stderr', Buffer.from(text));
      return '';
    }
    if (op === 'encode') return Buffer.from(text);
    if (op === 'decode') return Buffer.from(bytes ?? []).toString();
    const args = parseInside(text);
    try {
      return act(op, Array.isArray(args) ? args : [], bytes ?? new Uint8Array(0));
    } catch (error) {
      if (error instanceof FileError) throw new HostRefusal(`E${error.errno}`);
      throw error;
    }
  };
}
