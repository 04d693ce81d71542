import type { FileEvent } from '../../observe/event.ts';
import type { RunRecord } from '../run-record.ts';
import { lengthOfTarget } from './atomic-save.ts';
import type { Dictionary } from './dictionary.ts';
import { listTokens } from './loose.ts';
import { splitPath } from './split-path.ts';

/** Tokens of passing names that could be random ones. */
export function listCandidates(
  paths: readonly string[],
  dictionary: Dictionary,
): ReadonlySet<string> {
  const candidates = new Set<string>();
  for (const path of paths)
    for (const token of listTokens(splitPath(path).name))
      if (!dictionary.isWordy(token)) candidates.add(token);
  return candidates;
}

interface Sources {
  readonly record: RunRecord;
  readonly candidates: ReadonlySet<string>;
  /** By path: the form of names born in the run that stay, where it is another. */
  readonly lastingForms: ReadonlyMap<string, string>;
  readonly isLoose: (path: string) => boolean;
}

/** Those that also stand in a name that stays, whether the run made it or found it: nobody made these up. */
export function findLastingTokens(sources: Sources): ReadonlySet<string> {
  const { candidates, lastingForms } = sources;
  const found = new Set<string>();
  if (candidates.size === 0) return found;
  const seen = new Set<string>();
  const look = (path: string): void => {
    for (const token of listTokens(lastingForms.get(path) ?? splitPath(path).name))
      if (candidates.has(token)) found.add(token);
  };
  for (const path of listLastingPaths(sources)) {
    look(path);
    for (let at = splitPath(path).directory; !seen.has(at); at = splitPath(at).directory) {
      seen.add(at);
      look(at);
    }
  }
  return found;
}

function* listLastingPaths({ record, isLoose }: Sources): Iterable<string> {
  for (const event of record.events) {
    if (event.kind !== 'file' && event.kind !== 'exec') continue;
    if (event.outcome !== 'ok') continue;
    if (!isLoose(event.path)) yield event.path;
    if (event.kind === 'file' && isSaved(event) && !isLoose(event.target)) yield event.target;
  }
  for (const { image } of record.programs) if (!isLoose(image)) yield image;
}

/** A name that stays may have come by an atomic save alone, and nobody has read it since. */
function isSaved(event: FileEvent): event is FileEvent & { readonly target: string } {
  const { op, path, target } = event;
  return op === 'rename' && lengthOfTarget(splitPath(path).name, target) > 0;
}
