import { closeSync, openSync, readSync, statSync } from 'node:fs';

const STDIN = 0;

/**
 * At most one byte more than `maxBytes`, which is enough to see that a file is too large: some files never end. `-` is
 * standard input.
 */
export function readBounded(file: string, maxBytes: number): Buffer {
  const fd = file === '-' ? STDIN : openSync(file, 'r');
  try {
    const pieces: Buffer[] = [];
    let rest = maxBytes + 1;
    while (rest > 0) {
      const piece = Buffer.allocUnsafe(Math.min(rest, 64 * 1024));
      const count = readSync(fd, piece);
      if (count === 0) break;
      pieces.push(piece.subarray(0, count));
      rest -= count;
    }
    return Buffer.concat(pieces);
  } finally {
    if (fd !== STDIN) closeSync(fd);
  }
}

/**
 * The same for a file that nobody named, but that lies where it would be; undefined if there is none. Whoever could put
 * something there may have put a pipe there, which would be waited for.
 */
export function readBoundedBeside(file: string, maxBytes: number): Buffer | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new Error('it is not a regular file');
  return readBounded(file, maxBytes);
}
