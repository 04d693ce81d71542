import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeName, spellName, toText } from '../../core/name-bytes.ts';
import { toPrintable } from '../../core/printable.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { LocalFiles } from './files.ts';

/** Throws unless it is a directory that can be read. */
export function checkWorkspace(host: string): void {
  let problem: string | undefined;
  try {
    if (!statSync(host).isDirectory()) problem = 'it is no directory';
  } catch (error) {
    problem = (error as NodeJS.ErrnoException).code ?? 'it cannot be looked at';
  }
  if (problem !== undefined)
    throw new SandboxError('path_invalid', `Cannot use "${host}" as a workspace: ${problem}`);
}

/** Files, directories and links of the host, as they are; what is none of these stays where it is. */
export async function copyIn(host: string, files: LocalFiles): Promise<void> {
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const folder = below;
    const entries = about(folder, () =>
      readdirSync(join(host, folder), { withFileTypes: true, encoding: 'latin1' }),
    );
    for (const entry of entries) {
      const name = toText(entry.name);
      if (name === undefined)
        throw refuse(join(spellName(folder), decodeName(entry.name)), 'its name is not UTF-8');
      const path = join(folder, name);
      if (entry.isDirectory()) waiting.push(path);
      await copyEntry(host, path, entry, files);
    }
  }
}

async function copyEntry(
  host: string,
  path: string,
  entry: Dirent,
  files: LocalFiles,
): Promise<void> {
  const source = join(host, path);
  if (entry.isDirectory()) await files.mkdir(path);
  else if (entry.isSymbolicLink())
    await files.link(
      path,
      about(path, () => readlinkSync(source)),
    );
  else if (entry.isFile()) {
    const { bytes, mode } = about(path, () => ({
      bytes: readFileSync(source),
      mode: lstatSync(source).mode,
    }));
    await files.writeWithMode(path, bytes, mode & 0o777);
  }
}

/** What the host says to `path` of the workspace, as an error of whoever asked for a copy of it. */
function about<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const { code = 'it cannot be read' } = cause as NodeJS.ErrnoException;
    throw refuse(spellName(path), code, cause);
  }
}

function refuse(shown: string, why: string, cause?: unknown): SandboxError {
  return new SandboxError(
    'path_invalid',
    `Cannot copy "${toPrintable(shown)}" into the sandbox: ${why}`,
    {
      cause,
      hint: 'Move it away, or hand over single files',
    },
  );
}
