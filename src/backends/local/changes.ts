import type { FileChange } from '../sandbox.ts';
import type { LocalFiles, TreeEntry } from './files.ts';

/** How the workspace was when the sandbox was made, by path. */
export type Baseline = ReadonlyMap<string, string>;

const isListed = ({ kind }: TreeEntry): boolean => kind !== 'directory';

export async function takeBaseline(files: LocalFiles): Promise<Baseline> {
  const entries = await files.listTree({ hasDigests: false });
  return new Map(entries.filter(isListed).map(({ path, mark }) => [path, mark]));
}

/** What differs from how it was; directories are only seen by what is in them. */
export async function findChanges(
  files: LocalFiles,
  baseline: Baseline,
): Promise<readonly FileChange[]> {
  const entries = (await files.listTree({ hasDigests: true })).filter(isListed);
  const present = new Set(entries.map(({ path }) => path));
  const changed = entries
    .filter(({ path, mark }) => baseline.get(path) !== mark)
    .map(({ path, kind, sha256, sizeBytes }): FileChange => {
      const change = baseline.has(path) ? 'modified' : 'added';
      return kind === 'file' && sha256 !== ''
        ? { path, change, sha256, sizeBytes }
        : { path, change };
    });
  const deleted = [...baseline.keys()]
    .filter((path) => !present.has(path))
    .map((path): FileChange => ({ path, change: 'deleted' }));
  return [...changed, ...deleted].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
