import { closeSync, openSync, readSync } from 'node:fs';

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
