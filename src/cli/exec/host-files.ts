import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { FileChange, Sandbox } from '../../backends/sandbox.ts';
import { AssayError } from '../../core/errors.ts';
import { encodeName, toText } from '../../core/name-bytes.ts';
import type { InputFile } from '../../tool/code-input.ts';
import { makeDirectory } from '../make-directory.ts';
import { readRegular } from './code-source.ts';

const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** `--file data/in.csv` is `in.csv` inside, `--file data/in.csv:raw/a.csv` is `raw/a.csv`. */
export function readInputFiles(entries: readonly string[]): InputFile[] {
  return entries.map((entry) => {
    const [, host = entry, inside] = /^(.+?)(?::([^:]+))?$/s.exec(entry) ?? [];
    return readInputFile(host, inside ?? basename(host));
  });
}

export function readInputFile(host: string, path: string): InputFile {
  const bytes = readRegular(host, MAX_FILE_BYTES, 'a file');
  return { path, content: bytes.toString('base64'), encoding: 'base64' };
}

/** Before anything runs: a place that cannot be written is no surprise at the end. */
export function openOut(directory: string): string {
  const root = resolve(directory);
  try {
    makeDirectory(root);
    accessSync(root, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot write to ${JSON.stringify(directory)}: ${(cause as Error).message}`,
      { hint: 'Nothing was executed. --out names a directory that is yours to write', cause },
    );
  }
  return root;
}

/** Copies what the program has made or changed below `directory`; says what could not be. */
export async function copyOut(
  sandbox: Sandbox,
  changes: readonly FileChange[],
  root: string,
): Promise<string[]> {
  const left: string[] = [];
  try {
    for (const { path, change, sha256 } of changes) {
      if (change === 'deleted') continue;
      const name = toText(encodeName(path).toString('latin1'));
      const reason =
        sha256 === undefined && name !== undefined
          ? 'is not a regular file'
          : await findObstacle(sandbox, name);
      if (reason !== undefined) left.push(`${path} ${reason}, and stays inside`);
      else if (name !== undefined)
        writeBelow(root, name, await sandbox.fs.readFile(name, { maxBytes: MAX_FILE_BYTES }));
    }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string')
      throw new AssayError(
        'E_OUTPUT_NOT_WRITTEN',
        `Cannot write to ${JSON.stringify(root)}: ${cause.message}`,
        { cause },
      );
    throw cause;
  }
  return left;
}

/** A file with holes is as large as its program likes, whatever it takes on disk; and a name is what bytes it likes. */
async function findObstacle(
  sandbox: Sandbox,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return 'has a name that is not UTF-8';
  const { sizeBytes } = await sandbox.fs.stat(name);
  return sizeBytes > MAX_FILE_BYTES ? `is larger than ${MAX_FILE_BYTES} bytes` : undefined;
}

/** The name is the program's choice: it leads nowhere but below, and through no link. */
function writeBelow(root: string, path: string, data: Uint8Array): void {
  const target = join(root, path);
  if (!target.startsWith(`${root}/`)) throw new Error(`${path} leads out of ${root}`);
  const steps = dirname(path)
    .split('/')
    .filter((step) => step !== '.');
  let parent = root;
  for (const step of steps) {
    parent = join(parent, step);
    const found = lstatSync(parent, { throwIfNoEntry: false });
    if (!found) mkdirSync(parent);
    else if (!found.isDirectory()) throw new Error(`${parent} is not a directory`);
  }
  const partial = `${target}.${process.pid}.part`;
  writeFileSync(partial, data, { flag: 'wx' });
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}
