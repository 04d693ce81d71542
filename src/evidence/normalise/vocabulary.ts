import type { RunRecord } from '../run-record.ts';
import { listTokens } from './loose.ts';
import { splitPath } from './split-path.ts';

interface Sources {
  readonly record: RunRecord;
  /** By path: the form of names born in the run that stay. */
  readonly lastingForms: ReadonlyMap<string, string>;
  readonly isLoose: (path: string) => boolean;
}

/** Tokens of names that stay, whether the run made them or found them: nobody made these up for the moment. */
export function collectVocabulary(sources: Sources): ReadonlySet<string> {
  const vocabulary = new Set<string>();
  const seen = new Set<string>();
  for (const path of listLastingPaths(sources))
    for (let at = path; at !== '' && !seen.has(at); at = splitPath(at).directory) {
      seen.add(at);
      for (const token of listTokens(sources.lastingForms.get(at) ?? splitPath(at).name))
        vocabulary.add(token);
    }
  return vocabulary;
}

function* listLastingPaths({ record, isLoose }: Sources): Iterable<string> {
  for (const event of record.events) {
    if (event.kind !== 'file' && event.kind !== 'exec') continue;
    if (event.outcome === 'ok' && !isLoose(event.path)) yield event.path;
  }
  for (const { image } of record.programs) if (!isLoose(image)) yield image;
}
