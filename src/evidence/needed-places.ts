import { isRedacted } from '../core/redaction-mark.ts';
import type { Event } from '../observe/event.ts';
import type { Variables } from '../policy/policy.ts';
import { isNameless } from './normalise/special-paths.ts';

/** Where a grant for a path has to stand: at the path itself, or at the directory that was there before the run. */
export interface Place {
  readonly path: string;
  /** The path, or something above it, was made, moved or removed in the run, or has a name that no entry can spell. */
  readonly isNew: boolean;
  /** It is not new: a part of its name is hidden. */
  readonly isHidden: boolean;
  /** The first name below `path` that is so. */
  readonly name: string;
}

export interface Placer {
  place(path: string): Place;
}

/** Bytes that are not text, white space at the end: no entry of a policy can name them. */
const UNSPEAKABLE = /\\(?:\\|x[89a-f][0-9a-f])|\s$/;

/** Whether an entry of a policy can name it as it is. */
export function isSpeakable(name: string): boolean {
  return !UNSPEAKABLE.test(name) && !isRedacted(name);
}

export function makePlacer(events: readonly Event[]): Placer {
  const moving = findMoving(events);
  const known = new Map<string, Place>();
  const place = (path: string): Place => {
    const cut = path.lastIndexOf('/');
    if (cut < 0 || path === '/') return { path: '/', isNew: false, isHidden: false, name: '' };
    const above = placeDirectory(path.slice(0, cut) || '/');
    if (above.isNew) return above;
    const name = path.slice(cut + 1);
    if (moving.has(path) || UNSPEAKABLE.test(name) || isNameless(name))
      return { path: above.path, isNew: true, isHidden: false, name };
    return isRedacted(name)
      ? { path: above.path, isNew: true, isHidden: true, name }
      : { path, isNew: false, isHidden: false, name: '' };
  };
  const placeDirectory = (path: string): Place => {
    let found = known.get(path);
    if (!found) {
      found = place(path);
      known.set(path, found);
    }
    return found;
  };
  return { place };
}

/** Names that came or went: a grant for them would not be there at the start, or be in the way. */
function findMoving(events: readonly Event[]): ReadonlySet<string> {
  const moving = new Set<string>();
  for (const event of events) {
    if (event.kind === 'network') {
      if (event.op === 'bind' && event.family === 'unix' && event.outcome === 'ok')
        moving.add(event.host);
      continue;
    }
    if (event.kind !== 'file' || event.outcome !== 'ok') continue;
    switch (event.op) {
      case 'create':
      case 'mkdir':
      case 'mknod':
      case 'symlink':
      case 'unlink':
      case 'rmdir':
        moving.add(event.path);
        break;
      case 'rename':
      case 'link':
        // Landlock asks for the right to link and move on the directory, not on the file.
        moving.add(event.path);
        if (event.target !== undefined) moving.add(event.target);
        break;
      default:
    }
  }
  return moving;
}

const BROAD_IN_HOME = ['', '/.cache', '/.config', '/.local', '/.local/share', '/.local/state'];
const BROAD = ['/run/user', '/var/cache', '/var/lib', '/var/log', '/var/run', '/usr/local'];

/**
 * Directories that hold what belongs to many programs: never granted as a whole. A workspace may lie right below the
 * root; one that is the home, or holds it, is as broad as that.
 */
export function makeBroadTest({
  cwd,
  home,
}: Pick<Variables, 'cwd' | 'home'>): (path: string) => boolean {
  const broad = new Set(['/', ...BROAD, ...BROAD_IN_HOME.map((name) => home + name)]);
  for (const path of [cwd, home])
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) broad.add(at);
  return (path) => broad.has(path) || (path !== cwd && path.lastIndexOf('/') === 0);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
