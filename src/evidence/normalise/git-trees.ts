import type { RunRecord } from '../run-record.ts';

const GIT_IMAGE = /\/(?:git|git-core\/[^/]+)$/;

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
    const at = event.path.indexOf('/.git/');
    if (at > 0) roots.add(event.path.slice(0, at));
  }
  return (path, image) => {
    if (roots.size === 0 || !GIT_IMAGE.test(image) || /\/\.git(?:\/|$)/.test(path)) return false;
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      if (roots.has(path.slice(0, at))) return true;
    return false;
  };
}
