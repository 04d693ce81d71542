import { normalize } from 'node:path/posix';

import type { Event } from '../../observe/event.ts';

/** A path that leads nowhere is recorded as it was asked for. */
export function cleanPath(path: string): string {
  if (!path.startsWith('/') || !/\/\.{0,2}(?:\/|$)/.test(path) || path === '/') return path;
  return normalize(path).replace(/(?<=.)\/$/, '');
}

export function cleanEvent(event: Event): Event {
  if (event.kind !== 'file' && event.kind !== 'exec') return event;
  const path = cleanPath(event.path);
  return path === event.path ? event : { ...event, path };
}
