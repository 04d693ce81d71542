import { lstatSync, type Stats } from 'node:fs';

// Paths as bytes: what a run makes need not have a name that is UTF-8.

const SLASH = Buffer.from('/');

/** Nothing joined to a path is the path itself. */
export function join(dir: Buffer, name: Buffer | string): Buffer {
  if (dir.length === 0) return Buffer.from(name);
  return name.length === 0 ? dir : Buffer.concat([dir, SLASH, Buffer.from(name)]);
}

/** With the slash that keeps it apart from names that it only begins. */
export function isUnder(path: Buffer, dir: Buffer): boolean {
  return path.equals(dir) || path.subarray(0, dir.length + 1).equals(Buffer.concat([dir, SLASH]));
}

/** Undefined when it is not there, or not to be looked at. */
export function look(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
