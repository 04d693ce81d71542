import type { Changes, ChangeSet } from './changes.ts';
import type { Entries } from './evidence.ts';
import type { Normalised } from './normalise/normalise.ts';
import type { RunRecord } from './run-record.ts';

/** In a form: what stands for other names, which cannot be told from it. */
const HIDING = /<\*>|\$\{UP\}/;

/**
 * Net changes in their general form. What no line of the run speaks of comes and goes as its program sees fit, such as
 * the journal of a database: that is kept beside the content, under its real name, with all names that were made up.
 */
export function showChanges(
  changes: Changes,
  options: { normalised: Normalised; entries: Entries; record: RunRecord },
): { changes: ChangeSet; isShown: (path: string) => boolean } {
  const { normalised, entries, record } = options;
  const isMoved = makeMovedTest(record);
  const formOf = (path: string): string =>
    path.endsWith('/') && path !== '/'
      ? `${normalised.pathOf(path.slice(0, -1))}/`
      : normalised.pathOf(path);
  const isKnown = (path: string, form: string): boolean =>
    Object.hasOwn(entries.files, form.replace(/\/$/, '')) || isMoved(path);
  const all = (paths: readonly string[]): string[] => {
    const shown = new Set<string>();
    for (const path of paths) {
      const form = formOf(path);
      if (isKnown(path, form)) shown.add(form);
    }
    return [...shown].sort();
  };
  return {
    changes: {
      created: all(changes.created),
      modified: all(changes.modified),
      removed: all(changes.removed),
      attributes: all(changes.attributes.filter((path) => !normalised.isFreshened(path))),
    },
    isShown: (path) => {
      const form = formOf(path);
      return !HIDING.test(form) && isKnown(path, form);
    },
  };
}

/** What a directory brought along has no line of its own. */
function makeMovedTest({ events, movedContents }: RunRecord): (path: string) => boolean {
  if (movedContents.size === 0) return () => false;
  const moved = new Set<string>(movedContents.keys());
  for (const event of events)
    if (event.kind === 'file' && event.op === 'rename' && event.isDirectory) moved.add(event.path);
  return (path) => {
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
      if (moved.has(at)) return true;
    return false;
  };
}
