import type { Births } from './births.ts';
import type { Places } from './places.ts';
import { splitPath } from './split-path.ts';

/** Tells whether nobody finds a path after the run: gone with its directory, in the private tmp, or never a file. */
export function makeLoosenessTest(births: Births, places: Places): (path: string) => boolean {
  const directories = new Map<string, boolean>(
    Array.from(places.tokens.keys(), (path) => [path, false]),
  );
  for (const zone of places.zones) directories.set(zone, true);
  directories.set('', false);

  function isLooseDirectory(path: string): boolean {
    let is = directories.get(path);
    if (is === undefined) {
      is = isLoose(path);
      directories.set(path, is);
    }
    return is;
  }

  function isLoose(path: string): boolean {
    if (births.gone.has(path) || path.startsWith('@')) return true;
    return directories.get(path) ?? isLooseDirectory(splitPath(path).directory);
  }
  return isLoose;
}
