import type { RunRecord } from '../run-record.ts';
import { escapeLiteral } from './places.ts';
import type { Places } from './places.ts';

const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Programs look for their configuration in the working directory and in every directory above it. How many there are
 * is a matter of where the run took place. Gives what stands for such a probe, or undefined for any other path.
 */
export function makeWalkFinder(
  record: RunRecord,
  { cwd, ancestors }: Places,
): (path: string, outcome: string) => string | undefined {
  const probed = new Set<string>();
  for (const event of record.events)
    if (event.kind === 'exec' || (event.kind === 'file' && event.op === 'read'))
      probed.add(event.path);
  const [parent = '/'] = ancestors;

  return (path, outcome) => {
    if (!MISSING.has(outcome) || cwd === '' || path.startsWith(`${cwd}/`)) return undefined;
    const above = ancestors.find((ancestor) => path.startsWith(withSlash(ancestor)));
    if (above === undefined) return undefined;
    const relative = path.slice(withSlash(above).length);
    const isWalk = [cwd, parent, '/'].every((start) => probed.has(withSlash(start) + relative));
    return isWalk ? escapeLiteral(relative) : undefined;
  };
}

function withSlash(directory: string): string {
  return directory === '/' ? '/' : `${directory}/`;
}
