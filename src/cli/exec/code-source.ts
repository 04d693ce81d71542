import { extname } from 'node:path';
import type { Language } from '../../backends/backend.ts';
import { AssayError } from '../../core/errors.ts';
import { decodeUtf8 } from '../../core/utf8.ts';
import { MAX_CODE_CHARS } from '../../tool/code-input.ts';
import { readBounded } from '../bounded-file.ts';
import type { FlagValues } from '../flag-values.ts';

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
export function readCodeFile(file: string): string {
  const bytes = readInput(file, MAX_CODE_CHARS, 'the code');
  const code = decodeUtf8(bytes);
  if (code !== undefined) return code;
  throw new AssayError('E_USAGE', `The code in ${nameInput(file)} is not UTF-8`);
}

/** What the program is to read: nothing unless a file is named. */
export function readStdin(flags: FlagValues, codeFile: string): Uint8Array | undefined {
  const file = flags.text('stdin');
  if (file === undefined) return undefined;
  if (file === '-' && codeFile === '-')
    throw new AssayError('E_USAGE', 'Standard input cannot be both the code and what it reads', {
      hint: 'Name a file for one of them: assay exec --stdin - main.py',
    });
  return readInput(file, MAX_STDIN_BYTES, 'its input');
}

export function readInput(file: string, maxBytes: number, what: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readBounded(file, maxBytes);
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot read ${what} from ${nameInput(file)}: ${(cause as Error).message}`,
      { cause },
    );
  }
  if (bytes.length <= maxBytes) return bytes;
  throw new AssayError('E_USAGE', `${nameInput(file)} is longer than ${maxBytes} bytes`, {
    hint: `That is the most there may be of ${what}`,
  });
}

function nameInput(file: string): string {
  return file === '-' ? 'standard input' : JSON.stringify(file);
}
