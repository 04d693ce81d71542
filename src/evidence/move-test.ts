import type { Event } from '../observe/event.ts';
import { type Change, isChange } from './path-verdict.ts';

/** Whether a change has to do with a move: at an end of one, or below a directory that was moved. */
export function makeMoveTest(events: readonly Event[]): (change: Change) => boolean {
  const ends = new Set<string>();
  const moved = new Set<string>();
  // What is in a directory depends on how that came to be.
  const places = new Set<string>();
  for (const event of events) {
    if (!isChange(event)) continue;
    if (event.op === 'mkdir' || event.op === 'rmdir') places.add(event.path);
    if (event.op !== 'rename' && event.op !== 'link') continue;
    for (const end of [event.path, event.target ?? '']) {
      ends.add(end);
      if (event.isDirectory) moved.add(end);
    }
  }
  if (ends.size === 0) return () => false;
  return ({ path }) => {
    if (ends.has(path) || places.has(path)) return true;
    if (moved.size > 0)
      for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
        if (moved.has(at)) return true;
    return false;
  };
}
