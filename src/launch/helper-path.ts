import { join } from 'node:path';

/** Beside the bundle; a path relative to anything else could be planted. */
export function helperPath(): string {
  return join(__dirname.endsWith('chunks') ? join(__dirname, '..') : __dirname, 'assay-helper');
}
