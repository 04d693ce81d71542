import { decodeName, encodeName } from '../../core/name-bytes.ts';
import type { FileChange } from '../sandbox.ts';
import type { StewardFiles } from './steward-files.ts';
import type { StewardLink } from './steward-link.ts';
import { TO_STEWARD } from './wire.ts';

/** What is below the workspace, by path as `FileChange` has it: enough to tell whether something was done to it. */
export interface TreeEntry {
  readonly kind: 'f' | 'd' | 'l' | 'o';
  readonly sizeBytes: number;
  /** Changes with every write, and cannot be set by programs. */
  readonly changedNs: bigint;
  readonly inode: bigint;
}

export type Tree = ReadonlyMap<string, TreeEntry>;

const RECORD_BYTES = 31;

export async function readTree(link: StewardLink): Promise<Tree> {
  const data = await link.ask(TO_STEWARD.tree);
  const tree = new Map<string, TreeEntry>();
  for (let at = 0; at + RECORD_BYTES <= data.length;) {
    const end = at + RECORD_BYTES + data.readUInt16LE(at + 29);
    tree.set(decodeName(data.toString('latin1', at + RECORD_BYTES, end)), {
      kind: data.toString('latin1', at, at + 1) as TreeEntry['kind'],
      sizeBytes: Number(data.readBigUInt64LE(at + 1)),
      changedNs: data.readBigUInt64LE(at + 9),
      inode: data.readBigUInt64LE(at + 17),
    });
    at = end;
  }
  return tree;
}

function isSame(one: TreeEntry, other: TreeEntry): boolean {
  return (
    one.kind === other.kind &&
    one.sizeBytes === other.sizeBytes &&
    one.changedNs === other.changedNs &&
    one.inode === other.inode
  );
}

export interface Baseline {
  readonly tree: Tree;
  /** Of files whose content was known when the sandbox was made. */
  readonly digests: ReadonlyMap<string, string>;
}

/** What differs from how the sandbox was made. Directories show by what is in them. */
export async function findChanges(
  link: StewardLink,
  files: StewardFiles,
  { tree: before, digests }: Baseline,
): Promise<FileChange[]> {
  const now = await readTree(link);
  const deleted = [...before]
    .filter(([path, { kind }]) => kind !== 'd' && !isThere(now, path))
    .map(([path]): FileChange => ({ path, change: 'deleted' }));
  const suspects = [...now].filter(([path, entry]) => {
    const old = before.get(path);
    return entry.kind !== 'd' && !(old && isSame(old, entry));
  });
  const changed = await Promise.all(
    suspects.map(async ([path, entry]): Promise<FileChange | undefined> => {
      const old = before.get(path);
      const change = old && old.kind !== 'd' ? 'modified' : 'added';
      if (entry.kind !== 'f') return { path, change };
      const name = encodeName(path).toString();
      const sha256 = await files.digest(name);
      if (change === 'modified' && sha256 !== undefined && digests.get(name) === sha256)
        return undefined;
      return {
        path,
        change,
        ...(sha256 !== undefined && { sha256 }),
        sizeBytes: entry.sizeBytes,
      };
    }),
  );
  return [...deleted, ...changed.filter((change) => change !== undefined)].toSorted((a, b) =>
    a.path < b.path ? -1 : 1,
  );
}

function isThere(tree: Tree, path: string): boolean {
  const entry = tree.get(path);
  return entry !== undefined && entry.kind !== 'd';
}
