import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { isatty } from 'node:tty';
import type { Language } from '../../backends/backend.ts';
import { AssayError } from '../../core/errors.ts';
import { decodeUtf8 } from '../../core/utf8.ts';
import { MAX_CODE_CHARS } from '../../tool/code-input.ts';
import { readBounded } from '../bounded-file.ts';
import type { FlagValues } from '../flag-values.ts';

const STDIN = 0;
const MAX_STDIN_BYTES = 64 * 1024 * 1024;

const LANGUAGE_OF: Readonly<Record<string, Language>> = {
  '.py': 'python',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.sh': 'bash',
  '.bash': 'bash',
};

/** The one that was named, or the one that the name of the file tells. */
export function chooseLanguage(flags: FlagValues, file: string): Language {
  const language = (flags.text('lang') as Language | undefined) ?? LANGUAGE_OF[extname(file)];
  if (language !== undefined) return language;
  throw new AssayError('E_USAGE', 'Which language is it?', {
    hint: 'Say --lang python, javascript, typescript or bash; of a file, its ending may say it',
  });
}

/** `-` is standard input. */
export async function readCode(file: string): Promise<string> {
  if (file === '-' && isatty(STDIN)) process.stderr.write('Code, then Ctrl-D:\n');
  if (file !== '-' && !SUBSTITUTED.test(file)) return readCodeFile(file);
  return decodeCode(await readSource(file, MAX_CODE_CHARS, 'the code'), file);
}

/** What a shell has made of `<(…)`: somebody writes to it. */
const SUBSTITUTED = /^\/(?:dev|proc\/self)\/fd\/\d+$/;

export function readCodeFile(file: string): string {
  return decodeCode(readRegular(file, MAX_CODE_CHARS, 'the code'), file);
}

function decodeCode(bytes: Uint8Array, file: string): string {
  const code = decodeUtf8(bytes);
  if (code !== undefined) return code;
  throw new AssayError('E_USAGE', `The code in ${nameInput(file)} is not UTF-8`);
}

/** What the program is to read: nothing unless a file is named. */
export async function readStdin(
  flags: FlagValues,
  codeFile: string,
): Promise<Uint8Array | undefined> {
  const file = flags.text('stdin');
  if (file === undefined) return undefined;
  if (file === '-' && codeFile === '-')
    throw new AssayError('E_USAGE', 'Standard input cannot be both the code and what it reads', {
      hint: 'Name a file for one of them: assay exec --stdin - main.py',
    });
  return await readSource(file, MAX_STDIN_BYTES, 'its input');
}

/** Standard input may be one that does not wait, and then cannot be read like a file. */
async function readSource(file: string, maxBytes: number, what: string): Promise<Buffer> {
  if (file !== '-') return readInput(file, maxBytes, what);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of process.stdin as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    length += piece.length;
    if (length > maxBytes) throw refuseLength(file, maxBytes, what);
  }
  return Buffer.concat(pieces);
}

/** Nothing that would be waited for, such as a pipe that nobody writes to. */
export function readRegular(file: string, maxBytes: number, what: string): Buffer {
  return readInput(file, maxBytes, what, readBoundedRegular);
}

function readBoundedRegular(file: string, maxBytes: number): Buffer {
  if (!statSync(file).isFile()) throw new Error('it is not a regular file');
  return readBounded(file, maxBytes);
}

function readInput(file: string, maxBytes: number, what: string, read = readBounded): Buffer {
  let bytes: Buffer;
  try {
    bytes = read(file, maxBytes);
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot read ${what} from ${nameInput(file)}: ${(cause as Error).message}`,
      { cause },
    );
  }
  if (bytes.length <= maxBytes) return bytes;
  throw refuseLength(file, maxBytes, what);
}

function refuseLength(file: string, maxBytes: number, what: string): AssayError {
  return new AssayError('E_USAGE', `${nameInput(file)} is longer than ${maxBytes} bytes`, {
    hint: `That is the most there may be of ${what}`,
  });
}

function nameInput(file: string): string {
  return file === '-' ? 'standard input' : JSON.stringify(file);
}
