import { decodeName } from '../../core/name-bytes.ts';
import type { FileChange } from '../sandbox.ts';
import { breach } from './frames.ts';
import type { GuestFiles } from './guest-files.ts';
import type { Entry } from './messages.ts';

/** A file of the workspace, and how to ask for it: a name need not be text. */
export interface Found extends Entry {
  readonly rawPath: Buffer;
}

/** The workspace as it was when the sandbox was made. */
export interface Baseline {
  readonly entries: ReadonlyMap<string, Found>;
  readonly digests: ReadonlyMap<string, string>;
}

const SLASH = Buffer.from('/');

/** Everything below the workspace that is no directory, by the bytes of its path. */
export async function listWorkspace(
  files: GuestFiles,
  maxEntries: number,
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const waiting = [Buffer.alloc(0)];
  for (let below = waiting.pop(); below; below = waiting.pop()) {
    for (const entry of await files.list(below)) {
      const rawPath = Buffer.concat(
        below.length === 0 ? [entry.rawName] : [below, SLASH, entry.rawName],
      );
      if (entry.kind === 'directory') waiting.push(rawPath);
      else found.set(rawPath.toString('latin1'), { ...entry, rawPath });
    }
    if (found.size + waiting.length > maxEntries) throw breach('more files than there can be');
  }
  return found;
}

/** Programs cannot set the time at which the kernel says that a file was changed. */
function isSame(one: Entry, other: Entry): boolean {
  return (
    one.kind === other.kind &&
    one.inode === other.inode &&
    one.changedNs === other.changedNs &&
    one.sizeBytes === other.sizeBytes
  );
}

export async function findChanges(
  files: GuestFiles,
  before: Baseline,
  now: ReadonlyMap<string, Found>,
): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const [key, entry] of now) {
    const old = before.entries.get(key);
    if (old && isSame(old, entry)) continue;
    const path = decodeName(key);
    const sha256 = entry.kind === 'file' ? await files.digest(entry.rawPath) : undefined;
    if (sha256 !== undefined && sha256 === before.digests.get(entry.rawPath.toString())) continue;
    const about = sha256 === undefined ? {} : { sha256, sizeBytes: entry.sizeBytes };
    changes.push({ path, change: old ? 'modified' : 'added', ...about });
  }
  for (const key of before.entries.keys())
    if (!now.has(key)) changes.push({ path: decodeName(key), change: 'deleted' });
  return changes.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
