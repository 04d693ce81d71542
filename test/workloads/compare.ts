import type { Evidence } from '../../src/evidence/evidence.ts';
import type { Copy } from './copy.ts';
import type { TreeChanges } from './scan.ts';
import type { TracedProgram } from './strace.ts';

/**
 * Where the record and an independent scan of the workspace disagree. Created and removed must be the same sets.
 *
 * "Modified" needs a choice. A file that was written with the very same bytes has not changed for a reader of its
 * content, but it has for everything that looks at its inode or time, and a recorder that has not read the file before
 * cannot know better. So: what has another content must be recorded as modified (no miss), and what is recorded as
 * modified must have another content, inode or time (no invention). The same goes for permissions and owners, which
 * have a list of their own; there, a time that was set counts as well.
 */
export function compareChanges(changes: TreeChanges, evidence: Evidence): string[] {
  const scanned = foldLogs(changes);
  const { created, modified, removed, attributes } = evidence.changes;
  const touched = [...modified, ...attributes];
  return [
    ...compareSets('created', scanned.created, keepWorkspace(created)),
    ...compareSets('removed', scanned.removed, keepWorkspace(removed)),
    ...findMisses('modified', scanned.modified, keepWorkspace(modified)),
    ...findInventions(
      'modified',
      [...scanned.modified, ...scanned.rewritten],
      keepWorkspace(modified),
    ),
    ...findMisses('attributes', scanned.attributes, keepWorkspace(touched)),
    ...evidence.run.unverified_changes.map((path) => `not looked at: ${path}`),
  ];
}

/** A record takes the log of an SQLite database for the database: whether it is left behind is a matter of luck. */
function foldLogs(changes: TreeChanges): TreeChanges {
  const fold = (paths: readonly string[]): string[] => [
    ...new Set(paths.map((path) => path.replace(/(\.sqlite3?|\.db)-(?:wal|shm|journal)$/, '$1'))),
  ];
  return {
    created: fold(changes.created),
    removed: fold(changes.removed),
    modified: fold(changes.modified),
    rewritten: fold(changes.rewritten),
    attributes: fold(changes.attributes),
  };
}

const WORKSPACE = '${CWD}/';

function keepWorkspace(paths: readonly string[]): string[] {
  return paths
    .filter((path) => path.startsWith(WORKSPACE))
    .map((path) => path.slice(WORKSPACE.length));
}

function compareSets(what: string, real: readonly string[], recorded: readonly string[]): string[] {
  return [...findMisses(what, real, recorded), ...findInventions(what, real, recorded)];
}

/** Whether an object needs a directory of its own is a matter of luck, so git may make it without a word. */
const OBJECT_DIRECTORY = /(?:^|\/)objects\/[0-9a-f]{2}\/$/;

/** Names that a program made up are recorded with a mark in the place of what is random in them. */
function findMisses(what: string, real: readonly string[], recorded: readonly string[]): string[] {
  const literal = new Set(recorded);
  const patterns = recorded.filter(isMasked).map(toPattern);
  return real
    .filter((path) => !literal.has(path) && !patterns.some((pattern) => pattern.test(path)))
    .filter((path) => !OBJECT_DIRECTORY.test(path))
    .map((path) => `${what}, but not recorded: ${path}`);
}

function findInventions(
  what: string,
  real: readonly string[],
  recorded: readonly string[],
): string[] {
  const literal = new Set(real);
  const isReal = (path: string): boolean =>
    isMasked(path) ? real.some((other) => toPattern(path).test(other)) : literal.has(path);
  return recorded
    .filter((path) => !isReal(path))
    .map((path) => `recorded as ${what}, but it is not: ${path}`);
}

/** Something random, or the path of the workspace in one name, with dashes. */
const MASK = /<[a-z*]+>|\$\{CWD-\}/;

function isMasked(path: string): boolean {
  return MASK.test(path);
}

function toPattern(path: string): RegExp {
  const parts = path.split(new RegExp(MASK, 'g'));
  const quoted = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${quoted.join('[^/]+')}$`);
}

/** Where the record and strace disagree on what was executed, and as the interpreter of which scripts. */
export function comparePrograms(
  traced: readonly TracedProgram[],
  evidence: Evidence,
  copy: Copy,
): string[] {
  const name = (path: string): string => generalise(path, copy);
  const { processes } = evidence.entries;
  const scripts = Object.entries(processes).flatMap(([image, entry]) =>
    entry.scripts.map((script) => `${image} for ${script}`),
  );
  const tracedScripts = traced.flatMap(({ image, script }) =>
    script === undefined ? [] : [`${name(image)} for ${name(script)}`],
  );
  const images = [...new Set(traced.map(({ image }) => name(image)))];
  return [
    ...compareSets('executed', images, Object.keys(processes)),
    ...compareSets('executed', [...new Set(tracedScripts)], scripts),
  ];
}

/** How often each image was started, where the two do not agree. */
export function compareStarts(
  traced: readonly TracedProgram[],
  evidence: Evidence,
  copy: Copy,
): string[] {
  const counts = new Map<string, number>();
  for (const { image } of traced) {
    const name = generalise(image, copy);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].flatMap(([image, count]) => {
    const recorded = evidence.run.starts[image] ?? 1;
    return recorded === count ? [] : [`${image}: ${count} by strace, ${recorded} recorded`];
  });
}

function generalise(path: string, { work, tmp, place }: Copy): string {
  const places = [
    [work, '${CWD}'],
    [tmp, '${TMPDIR}'],
    [place.home, '${HOME}'],
  ] as const;
  const found = places.find(([directory]) => path.startsWith(`${directory}/`));
  return found === undefined ? path : `${found[1]}${path.slice(found[0].length)}`;
}
