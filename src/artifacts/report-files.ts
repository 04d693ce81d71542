import type { ChangeSet } from '../evidence/changes.ts';
import type { Evidence } from '../evidence/evidence.ts';
import { code, firstOf, plural, table } from './markdown.ts';

const MAX_DIRECTORIES = 60;
const MAX_NAMES = 8;

const MARKS: Readonly<Record<keyof ChangeSet, string>> = {
  created: 'created',
  modified: 'modified',
  removed: 'removed',
  attributes: 'new attributes',
};

/** What is different after the run, by directory. */
export function listChangedFiles({ changes }: Evidence): string[] {
  const byDirectory = new Map<string, Record<keyof ChangeSet, string[]>>();
  for (const kind of Object.keys(MARKS) as (keyof ChangeSet)[])
    for (const path of changes[kind]) {
      const [directory, name] = split(path);
      const known = byDirectory.get(directory) ?? {
        created: [],
        modified: [],
        removed: [],
        attributes: [],
      };
      known[kind].push(name);
      byDirectory.set(directory, known);
    }
  const directories = firstOf([...byDirectory.keys()].sort(), MAX_DIRECTORIES);
  const lines: string[] = [];
  for (const directory of directories.shown) {
    lines.push(`- ${code(directory)}`);
    for (const kind of Object.keys(MARKS) as (keyof ChangeSet)[]) {
      const names = byDirectory.get(directory)?.[kind] ?? [];
      if (names.length > 0) lines.push(`  - ${MARKS[kind]}: ${listNames(names)}`);
    }
  }
  if (directories.more > 0)
    lines.push(`- … and ${plural(directories.more, 'more directory', 'more directories')}`);
  return lines;
}

/** Where was read, with how many files; the system's own count as one. */
export function listReadFiles({ entries }: Evidence): string[] {
  const counts = new Map<string, number>();
  for (const [path, ops] of Object.entries(entries.files)) {
    const outcomes = ops['read'];
    if (!outcomes?.['ok'] && !outcomes?.['*']) continue;
    const [directory] = split(path);
    counts.set(directory, (counts.get(directory) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const { shown, more } = firstOf(sorted, MAX_DIRECTORIES);
  if (shown.length === 0) return [];
  const lines = table(
    ['Directory', 'Files read'],
    shown.map(([directory, count]) => [code(directory), String(count)]),
  );
  if (more > 0) lines.push('', `… and ${plural(more, 'more directory', 'more directories')}`);
  return lines;
}

function listNames(names: readonly string[]): string {
  const { shown, more } = firstOf(names, MAX_NAMES);
  return shown.map(code).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function split(path: string): [directory: string, name: string] {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  const cut = bare.lastIndexOf('/');
  // The workspace itself has nothing above it here.
  if (cut < 0) return [bare, '.'];
  return [bare.slice(0, cut) || '/', path.slice(cut + 1)];
}
