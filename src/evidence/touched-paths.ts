import type { Event, FileState } from '../observe/event.ts';

/** Everything that a run may have changed, and how it was before where that is known. */
export function listTouched(events: readonly Event[]): Map<string, FileState | undefined> {
  const touched = new Map<string, FileState | undefined>();
  for (const event of events) {
    if (event.kind !== 'file' || event.op === 'read' || event.outcome !== 'ok') continue;
    const { op, path, target, before } = event;
    if (!touched.has(path) || before === undefined) touched.set(path, before);
    if ((op === 'rename' || op === 'link') && target !== undefined) touched.set(target, undefined);
  }
  return touched;
}

/**
 * Tells whether a path leads through a link that the run has put in the place of a directory: what is found by it then is
 * something else. `isLink` looks at what is there now.
 */
export function makeAstrayTest(
  events: readonly Event[],
  isLink: (path: string) => boolean,
): (path: string) => boolean {
  const places = listLinkPlaces(events);
  if (places.size === 0) return () => false;
  const known = new Map<string, boolean>([['', false]]);
  const leadsAstray = (directory: string): boolean => {
    let is = known.get(directory);
    if (is === undefined) {
      is = leadsAstray(parentOf(directory)) || (places.has(directory) && isLink(directory));
      known.set(directory, is);
    }
    return is;
  };
  return (path) => leadsAstray(parentOf(path));
}

/** Where the run may have put a link. */
function listLinkPlaces(events: readonly Event[]): Set<string> {
  const places = new Set<string>();
  for (const event of events) {
    if (event.kind !== 'file' || event.outcome !== 'ok') continue;
    if (event.op === 'symlink') places.add(event.path);
    else if ((event.op === 'rename' || event.op === 'link') && event.target !== undefined)
      places.add(event.target);
  }
  return places;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
