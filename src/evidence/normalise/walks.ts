import type { RunRecord } from '../run-record.ts';
import { escapeLiteral } from './places.ts';
import type { Places } from './places.ts';

/** Outcomes of a look at what is not there. */
export const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Programs look for their configuration in the working directory and in every directory above it, or list each of
 * these. How many there are is a matter of where the run took place. Gives what stands for the directories above, with
 * what was looked for there, or undefined for any other path.
 */
export function makeWalkFinder(
  record: RunRecord,
  { cwd, ancestors }: Places,
): (path: string, outcome: string) => string | undefined {
  const [parent = '/'] = ancestors;
  // Some leave out the root, where hardly anybody keeps anything.
  const tops = ['/', ancestors.at(-2) ?? cwd];

  /** What was looked for above the working directory, from the directory on. */
  function relativeOf(path: string, outcome: string): string | undefined {
    if (!MISSING.has(outcome) || cwd === '' || path.startsWith(`${cwd}/`)) return undefined;
    const above = ancestors.find((ancestor) => path.startsWith(withSlash(ancestor)));
    return above === undefined ? undefined : path.slice(withSlash(above).length);
  }

  const placesOf = (relative: string): readonly string[] =>
    [cwd, parent, ...tops].map((start) => withSlash(start) + relative);

  function isWalk(relative: string): boolean {
    const isProbed = (start: string): boolean => probed.has(withSlash(start) + relative);
    return isProbed(cwd) && isProbed(parent) && tops.some(isProbed);
  }

  const isAllListed = (): boolean =>
    probed.has(cwd) && probed.has(parent) && tops.some((top) => probed.has(top));

  const wanted = new Set<string>([cwd, ...ancestors]);
  for (const { path, outcome } of listProbes(record)) {
    const relative = relativeOf(path, outcome);
    if (relative !== undefined) for (const place of placesOf(relative)) wanted.add(place);
  }
  const probed = new Set<string>();
  for (const { path } of listProbes(record)) if (wanted.has(path)) probed.add(path);

  return (path, outcome) => {
    const relative = relativeOf(path, outcome);
    if (relative !== undefined)
      return isWalk(relative) ? `\${UP}/${escapeLiteral(relative)}` : undefined;
    const isListed = outcome === 'ok' && path !== '/' && ancestors.includes(path);
    return isListed && isAllListed() ? '${UP}' : undefined;
  };
}

function* listProbes({ events }: RunRecord): Iterable<{ path: string; outcome: string }> {
  for (const event of events)
    if (event.kind === 'exec' || (event.kind === 'file' && event.op === 'read')) yield event;
}

function withSlash(directory: string): string {
  return directory === '/' ? '/' : `${directory}/`;
}
