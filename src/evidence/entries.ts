import type { Program } from '../observe/event.ts';
import type { Entries, Link, ProcessEntry, RefusalEntry } from './evidence.ts';
import type { CanonicalLine } from './normalise/canonical-line.ts';
import { OperationTable } from './operation-table.ts';
import { sortUnique, toRecord } from './sorting.ts';

const NETWORK_OPS: ReadonlySet<string> = new Set(['connect', 'bind', 'resolve']);
const LINK_OPS: ReadonlySet<string> = new Set(['rename', 'link', 'symlink']);

export interface EntriesInput {
  readonly lines: readonly CanonicalLine[];
  readonly programs: readonly Program[];
  readonly pathOf: (path: string) => string;
  /** Made in the run: what they hold may differ from run to run, so their name has to do. */
  readonly isBorn: (image: string) => boolean;
}

/** The lines of a run by what they are about: by subject, operation and outcome, the programs that did it. */
export function makeEntries(input: EntriesInput): Entries {
  const table = new OperationTable();
  /** By subject: the number of its set. */
  const files = new Map<string, number>();
  const network = new Map<string, number>();
  const note = (
    sets: Map<string, number>,
    subject: string,
    op: string,
    { outcome, program }: CanonicalLine,
  ): void => {
    sets.set(subject, table.add(sets.get(subject) ?? 0, { op, outcome, image: program }));
  };
  const links: Link[] = [];
  const folded: Entries['folded'][number][] = [];
  for (const line of input.lines) {
    const { op, path, target, outcome, program } = line;
    if (op === 'run' || op === 'limit') continue;
    if (op.startsWith('overflow ')) {
      folded.push({ op: op.slice('overflow '.length), directory: path, outcome, program });
      continue;
    }
    if (NETWORK_OPS.has(op)) {
      note(network, path, op, line);
      continue;
    }
    note(files, path, op, line);
    if (target === undefined || outcome !== 'ok' || !LINK_OPS.has(op)) continue;
    links.push({ op: op as Link['op'], from: path, to: target });
    if (op !== 'symlink') note(files, target, `${op}-target`, line);
  }
  return {
    files: toRecord(files, (set) => table.operations(set)),
    network: toRecord(network, (set) => table.operations(set)),
    processes: listProcesses(input),
    links: sortUnique(links, ({ op, from, to }) => [from, to, op]),
    folded: sortUnique(folded, (fold) => Object.values(fold)),
  };
}

export function listRefusals(lines: readonly CanonicalLine[]): RefusalEntry[] {
  const found = new Map<string, { refusal: RefusalEntry; programs: Set<string> }>();
  for (const { op, path, outcome, program, refusedBy } of lines) {
    if (refusedBy === undefined) continue;
    const refusal = { op, subject: path, outcome, rule: refusedBy || null, programs: [] };
    const key = JSON.stringify([path, op, outcome, refusedBy]);
    const known = found.get(key);
    if (known) known.programs.add(program);
    else found.set(key, { refusal, programs: new Set([program]) });
  }
  const keys = [...found.keys()].sort();
  return keys.flatMap((key) => {
    const one = found.get(key);
    return one ? [{ ...one.refusal, programs: [...one.programs].sort() }] : [];
  });
}

function listProcesses({
  lines,
  programs,
  pathOf,
  isBorn,
}: EntriesInput): Record<string, ProcessEntry> {
  const drafts = new Map<string, Record<keyof ProcessEntry, Set<string>>>();
  const draftOf = (image: string): Record<keyof ProcessEntry, Set<string>> => {
    const known = drafts.get(image);
    if (known) return known;
    const draft = {
      digests: new Set<string>(),
      parents: new Set<string>(),
      scripts: new Set<string>(),
    };
    drafts.set(image, draft);
    return draft;
  };
  for (const { op, path, target, program, digest } of lines) {
    if (op !== 'run') continue;
    const draft = draftOf(path);
    draft.parents.add(program);
    if (target !== undefined) draft.scripts.add(target);
    if (digest !== undefined) draft.digests.add(`sha256:${digest}`);
  }
  for (const { image, digest } of programs)
    if (digest !== undefined && !isBorn(image))
      draftOf(pathOf(image)).digests.add(`sha256:${digest}`);
  return toRecord(drafts, ({ digests, parents, scripts }) => ({
    digests: [...digests].sort(),
    parents: [...parents].sort(),
    scripts: [...scripts].sort(),
  }));
}
