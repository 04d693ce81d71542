import { join } from 'node:path';

/** Something that the build made, beside the bundle; a path relative to anything else could be planted. */
export function distPath(name: string): string {
  return join(__dirname.endsWith('chunks') ? join(__dirname, '..') : __dirname, name);
}

export function helperPath(): string {
  return distPath('assay-helper');
}
