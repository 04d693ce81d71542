import { decodeName, encodeName } from '../../core/name-bytes.ts';
import { isTemporary } from '../../evidence/changes.ts';
import { compareStates } from '../../evidence/final-state.ts';
import {
  type Aftermath,
  type FinalState,
  MAX_MOVED,
  type RunRecord,
} from '../../evidence/run-record.ts';
import { listMovedDirectories, listTouched, makeAstrayTest } from '../../evidence/touched-paths.ts';
import { join } from '../../launch/byte-path.ts';
import { showBelow, type ShownNames } from '../../observe/shown-names.ts';
import type { InsideState, LocalFiles } from './files.ts';

export interface ExamineInput extends Pick<RunRecord, 'events' | 'privateTmp' | 'variables'> {
  readonly names: ShownNames;
  /** Undefined when nobody is there to look at them. */
  readonly files: LocalFiles | undefined;
}

/** How what a call has touched is at its end, and what it has moved along with directories. */
export async function examineFiles(input: ExamineInput): Promise<Aftermath> {
  const { events, files, names } = input;
  const touched = listTouched(events);
  const paths = [...touched.keys()].filter((path) => names.find(path) !== undefined);
  const real = paths.map((path) => encodeName(names.find(path) ?? ''));
  const states = (await files?.readStates(real)) ?? paths.map(() => 'unknown');
  const now = new Map(paths.map((path, index) => [path, states[index] ?? null]));
  const isAstray = makeAstrayTest(events, (path) => isLink(now.get(path)));
  const finalStates = new Map<string, FinalState>();
  const unseen = [...touched.keys()].filter((path) => names.find(path) === undefined);
  for (const path of paths) {
    const state = isAstray(path) ? null : (now.get(path) ?? null);
    if (state === 'unknown') unseen.push(path);
    else finalStates.set(path, compareStates(touched.get(path), state));
  }
  const movedContents = new Map<string, string[]>();
  let left = MAX_MOVED;
  for (const target of files ? listMovedDirectories(events) : []) {
    const top = isAstray(target) ? undefined : names.find(target);
    const tree = files && top !== undefined ? await listTree(files, top, left) : NOTHING;
    const { unread } = tree;
    left -= tree.names.length;
    for (let count = 0; count < unread; count++) unseen.push(target);
    movedContents.set(
      target,
      tree.names.map((name) => showBelow(names, target, name)),
    );
  }
  const lasting = unseen.filter((path) => !isTemporary(path, input));
  return { finalStates, movedContents, unseen: lasting.length };
}

const isLink = (state: InsideState | 'unknown' | null | undefined): boolean =>
  state !== 'unknown' && state?.isLink === true;

interface Tree {
  /** Relative to it. */
  readonly names: string[];
  /** Directories that were not looked into, or not to their end. */
  readonly unread: number;
}

const NOTHING: Tree = { names: [], unread: 0 };

/** What lies below a directory; level by level, since each question takes a while. */
async function listTree(files: LocalFiles, directory: string, max: number): Promise<Tree> {
  const top = encodeName(directory);
  const names: string[] = [];
  let unread = 0;
  let level: Buffer[] = [Buffer.alloc(0)];
  while (level.length > 0 && names.length < max) {
    const listings = await files.listDirectories(level.map((below) => join(top, below)));
    const next: Buffer[] = [];
    for (const [index, { entries, isWhole }] of listings.entries()) {
      if (!isWhole) unread += 1;
      for (const { name, isDirectory } of entries) {
        const path = join(level[index] ?? Buffer.alloc(0), name);
        names.push(decodeName(path.toString('latin1')));
        if (isDirectory) next.push(path);
      }
    }
    level = next;
  }
  return { names, unread: unread + level.length };
}
