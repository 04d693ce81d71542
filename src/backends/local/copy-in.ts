import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
    const entries: Dirent[] = readdirSync(join(host, below), { withFileTypes: true });
    for (const entry of entries) {
      const path = join(below, entry.name);
      const source = join(host, path);
      if (entry.isDirectory()) {
        await files.mkdir(path);
        waiting.push(path);
      } else if (entry.isSymbolicLink()) await files.link(path, readlinkSync(source));
      else if (entry.isFile())
        await files.writeWithMode(path, readFileSync(source), lstatSync(source).mode & 0o777);
    }
  }
}
