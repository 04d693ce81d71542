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
