import { posix } from 'node:path';
import { HostRefusal } from './quickjs.ts';
import type { RunContext } from './run-context.ts';
import { ProgramExit } from './wasi.ts';

export interface JsCommand {
  readonly code: string;
  /** The path of the code, or how it is called where it is no file. */
  readonly name: string;
  readonly kind: 'module' | 'script' | 'either';
}

const MAX_STDIN_PIECE = 1 << 16;

function readAllStdin({ line }: RunContext): string {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = line.readStdin(MAX_STDIN_PIECE);
    if (piece.length === 0) return Buffer.concat(pieces).toString();
    pieces.push(piece);
  }
}

function kindOf(path: string): JsCommand['kind'] {
  if (path.endsWith('.mjs')) return 'module';
  return path.endsWith('.cjs') ? 'script' : 'either';
}

/** `node file`, `node -e code`, `node -`: what of that is the code. */
export function readCommand(context: RunContext, readCode: (path: string) => string): JsCommand {
  const { argv, cwd } = context.request;
  const [first, second] = argv.slice(1);
  if (first === undefined || first === '-')
    return { code: readAllStdin(context), name: `${cwd}/[stdin]`, kind: 'either' };
  if (first === '-e' || first === '--eval') {
    if (second === undefined) throw new HostRefusal(`${first} needs code`);
    return { code: second, name: `${cwd}/[eval]`, kind: 'either' };
  }
  if (first === '--version' || first === '-v') {
    context.line.write('stdout', Buffer.from('QuickJS\n'));
    throw new ProgramExit(0);
  }
  if (first.startsWith('-')) throw new HostRefusal(`There is no option ${first}`);
  const path = posix.resolve(cwd, first);
  return { code: readCode(path), name: path, kind: kindOf(path) };
}

/** What `process.argv` has behind the program itself. */
export function programArguments(argv: readonly string[], cwd: string): readonly string[] {
  const [, first, ...rest] = argv;
  if (first === undefined || first === '-') return rest;
  if (first === '-e' || first === '--eval') return rest.slice(1);
  return [posix.resolve(cwd, first), ...rest];
}
