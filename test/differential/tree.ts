import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

/** A time that a program set, as opposed to the time at which it happened to run. */
const EARLIEST_NOW_MS = Date.UTC(2024, 0);

interface TreeOptions {
  readonly root: string;
  readonly volatileFiles?: RegExp | undefined;
}

/** Everything below `root`, a line each, in the order of the names. */
export function describeTree({ root, volatileFiles }: TreeOptions): string[] {
  const lines: string[] = [];
  const visit = (path: string): void => {
    const full = join(root, path);
    const stat = fs.lstatSync(full);
    const isVolatile = volatileFiles?.test(path) ?? false;
    lines.push(`${path || '.'} ${describeEntry(full, stat, isVolatile)}`);
    if (!stat.isDirectory()) return;
    for (const name of fs.readdirSync(full).sort()) visit(path ? `${path}/${name}` : name);
  };
  visit('');
  return lines;
}

function describeEntry(full: string, stat: fs.Stats, isVolatile: boolean): string {
  const words = [(stat.mode & 0o177777).toString(8), `${stat.uid}:${stat.gid}`];
  if (stat.mtimeMs < EARLIEST_NOW_MS) words.push(`mtime=${stat.mtimeMs}`);
  if (isVolatile) return [...words, 'volatile'].join(' ');
  words.push(`links=${stat.nlink}`);
  if (stat.isSymbolicLink()) words.push(`-> ${fs.readlinkSync(full)}`);
  if (stat.isFile()) words.push(`size=${stat.size}`, digest(full));
  return words.join(' ');
}

/** A file that its mode closes to whoever runs the tests is closed on both sides. */
function digest(full: string): string {
  let content: Buffer;
  try {
    content = fs.readFileSync(full);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
