import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** With those above it. Step by step, since node itself tries for ever where a directory refuses names, as /proc does. */
export function makeDirectory(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found) throw new Error('it is not a directory');
  makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Somebody else may make the same at this moment.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
