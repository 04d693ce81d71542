import type { RunRecord } from '../run-record.ts';

const DATABASE_SIDE = /^(.*\.(?:sqlite3?|db3?|s3db))-(?:wal|shm|journal)$/s;
const UNNAMED_SIDE = /^(.+)-(?:wal|shm)$/s;
const GIT_INDEX_LOCK =
  /^(.*\/(?:\.git|[^/]+\.git|\.git\/(?:worktrees|modules)\/.+)\/index)\.lock$/s;

/** Finds the file that a journal of a database or the lock of a git index belongs to. */
export function makeMainFinder({ events }: RunRecord): (path: string) => string | undefined {
  const candidates = new Set<string>();
  for (const event of events)
    if (event.kind === 'file') {
      const main = UNNAMED_SIDE.exec(event.path)?.[1];
      if (main !== undefined) candidates.add(main);
    }
  /** Those that were there. */
  const mains = new Set<string>();
  for (const event of events)
    if (event.kind === 'file' && event.outcome === 'ok' && candidates.has(event.path))
      mains.add(event.path);

  return (path) => {
    const named = DATABASE_SIDE.exec(path)?.[1] ?? GIT_INDEX_LOCK.exec(path)?.[1];
    if (named !== undefined) return named;
    const main = UNNAMED_SIDE.exec(path)?.[1];
    return main !== undefined && mains.has(main) ? main : undefined;
  };
}
