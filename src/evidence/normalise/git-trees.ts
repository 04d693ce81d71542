import type { RunRecord } from '../run-record.ts';

const GIT_IMAGE = /\/(?:git|git-core\/[^/]+)$/;
/** A loose object or a file of a pack, by what names its content: that is the same in every store that has it. */
const OBJECT =
  /\/objects\/([0-9a-f]{2}\/(?:[0-9a-f]{62}|[0-9a-f]{38})|pack\/pack-(?:[0-9a-f]{64}|[0-9a-f]{40})\.\w+)$/;
/** All objects whose names begin alike. */
const OBJECT_DIRECTORY = /\/objects\/[0-9a-f]{2}$/;
const DESCRIBING: ReadonlySet<string> = new Set(['utimes', 'chmod', 'chown', 'xattr']);

/**
 * Tells reads of a work tree by git itself: it looks into files again whose times do not prove that they are as they
 * were, and that is a matter of moments.
 */
export function makeGitReadTest(
  { events }: RunRecord,
  imageOf: (program: number) => string,
): (path: string, image: string) => boolean {
  const roots = new Set<string>();
  for (const event of events) {
    if (event.kind !== 'file' || !GIT_IMAGE.test(imageOf(event.program))) continue;
    const at = event.path.search(/\/\.git(?:\/|$)/);
    // A file in linked work trees and submodules; one that is looked for and not there says nothing.
    const isThere = event.outcome === 'ok' || event.path.startsWith('/.git/', at);
    if (at > 0 && isThere) roots.add(event.path.slice(0, at));
  }
  return (path, image) => {
    if (roots.size === 0 || !GIT_IMAGE.test(image) || /\/\.git(?:\/|$)/.test(path)) return false;
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      if (roots.has(path.slice(0, at))) return true;
    return false;
  };
}

/**
 * Tells that git lists, makes or removes the directory of the objects whose names begin alike: it counts those with 17
 * to guess how many there are, and whether there is such a directory, or has to be, is a matter of the names, which
 * hold the time of a commit.
 */
export function isObjectDirectory(path: string, image: string): boolean {
  return OBJECT_DIRECTORY.test(path) && GIT_IMAGE.test(image);
}

/**
 * Tells objects of which git has set the times, and of which nothing else was changed. It does so when it is about to
 * write what is there already, also for files that it looks into again. Stores may share an object by hard links: then
 * it has new times in each of them.
 */
export function makeFreshenedTest({
  events,
  programs,
}: Pick<RunRecord, 'events' | 'programs'>): (path: string) => boolean {
  const images = new Map(programs.map(({ id, image }) => [id, image]));
  const freshened = new Set<string>();
  const others = new Set<string>();
  for (const event of events) {
    if (event.kind !== 'file' || event.outcome !== 'ok' || !DESCRIBING.has(event.op)) continue;
    const object = OBJECT.exec(event.path)?.[1];
    if (object === undefined) continue;
    const isFreshening = event.op === 'utimes' && GIT_IMAGE.test(images.get(event.program) ?? '');
    (isFreshening ? freshened : others).add(object);
  }
  return (path) => {
    const object = freshened.size === 0 ? undefined : OBJECT.exec(path)?.[1];
    return object !== undefined && freshened.has(object) && !others.has(object);
  };
}
