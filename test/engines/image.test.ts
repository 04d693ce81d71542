import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { findEngineFile } from '../../src/backends/engines-dir.ts';

const MAX_BYTES = 500_000_000;

const image = findEngineFile('image/rootfs.tar');
const guest = findEngineFile('microvm/guest.json');
const NOT_MADE = 'not made here: npm run engines';

describe('what npm run engines makes', () => {
  it('has an image that is below 500 MB', (context) => {
    if (image === undefined) return context.skip(NOT_MADE);
    expect(fs.statSync(image).size).toBeLessThan(MAX_BYTES);
  });

  it('has a guest that is below 500 MB', (context) => {
    if (guest === undefined) return context.skip(NOT_MADE);
    const { madeOf } = JSON.parse(fs.readFileSync(guest, 'utf8')) as { madeOf: string };
    const directory = join(dirname(guest), madeOf.slice(0, 16));
    const sizes = fs.readdirSync(directory).map((name) => fs.statSync(join(directory, name)).size);
    expect(sizes.length).toBe(3);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_BYTES);
  });

  it('has Python 3.14 and an even release of Node from 24 on in the image', (context) => {
    if (image === undefined) return context.skip(NOT_MADE);
    const versions = fs.readFileSync(join(dirname(image), 'versions'), 'latin1');
    expect(versions).toMatch(/^python 3\.14\./m);
    const node = Number(/^javascript (\d+)\./m.exec(versions)?.[1]);
    expect(node).toBeGreaterThanOrEqual(24);
    expect(node % 2).toBe(0);
  });
});
