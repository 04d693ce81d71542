import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { digestImage, type KnownImage } from '../../src/launch/image-digests.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'assay-image-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function stateOf(path: string): KnownImage {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return {
    dev: String(dev),
    ino: String(ino),
    size: String(size),
    mtimeNs: String(mtimeNs),
    ctimeNs: String(ctimeNs),
  };
}

describe('digestImage()', () => {
  it('reads all of an image that is longer than one piece', async () => {
    const path = join(dir, 'image');
    const bytes = Buffer.alloc((2 << 20) + 17, 'assay');
    writeFileSync(path, bytes);
    const expected = createHash('sha256').update(bytes).digest('hex');
    expect(await digestImage(Buffer.from(path), stateOf(path))).toBe(expected);
  });

  it('has none of a file that is not the one that ran', async () => {
    const path = join(dir, 'image');
    writeFileSync(path, 'one');
    const state = stateOf(path);
    appendFileSync(path, 'more');
    expect(await digestImage(Buffer.from(path), state)).toBeUndefined();
  });

  it('has none of what is gone, or cannot be read', async () => {
    expect(await digestImage(Buffer.from(join(dir, 'gone')), stateOf(dir))).toBeUndefined();
  });

  it('has none of a directory, which opens but cannot be read', async () => {
    expect(await digestImage(Buffer.from(dir), stateOf(dir))).toBeUndefined();
  });
});
