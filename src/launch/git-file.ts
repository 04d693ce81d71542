import { readFileSync, statSync } from 'node:fs';

/**
 * The path in a file of git's, behind `prefix`, in the bytes that it has. It ends where the kernel would end it; the
 * breaks behind it are not part of it. Undefined when there is none: what is no file is not waited for. Fails when it
 * is not to be read.
 */
export function readGitPath(file: Buffer | string, prefix = ''): Buffer | undefined {
  if (!isFile(file)) return undefined;
  const text = readFileSync(file, 'latin1').replace(/[\r\n]+$/, '');
  if (!text.startsWith(prefix)) return undefined;
  return Buffer.from(text.slice(prefix.length).replace(/\0[^]*/, ''), 'latin1');
}

/** What leads from a worktree or a submodule to its git directory. */
export function readGitFile(file: Buffer | string): Buffer | undefined {
  return readGitPath(file, 'gitdir: ');
}

function isFile(path: Buffer | string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false; // below something that nobody can look into
  }
}
