import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import { BUNDLE_LIMITS } from '../../../src/evidence/bundle/limits.ts';
import { makeTarHeader, paddingAfter } from '../../../src/evidence/bundle/tar-header.ts';
import { TarReader, type MemberName } from '../../../src/evidence/bundle/tar-reader.ts';

const directory = mkdtempSync(join(tmpdir(), 'assay-tar-'));
afterAll(() => rmSync(directory, { recursive: true }));

const HAS_TAR = spawnSync('tar', ['--version']).status === 0;

function runTar(args: readonly string[], input?: Uint8Array): Buffer {
  const { stdout, status, stderr } = spawnSync('tar', args, { input, cwd: directory });
  if (status !== 0 || stderr.length > 0) throw new Error(`tar: ${status} ${stderr.toString()}`);
  return stdout;
}

function write(members: readonly (readonly [string, Uint8Array])[]): Buffer {
  return Buffer.concat([
    ...members.flatMap(([name, body]) => [
      makeTarHeader(name, body.length),
      body,
      Buffer.alloc(paddingAfter(body.length)),
    ]),
    Buffer.alloc(1024),
  ]);
}

function read(archive: Uint8Array, step: number): Record<string, Buffer> {
  const found: Record<string, Buffer[]> = {};
  const reader = new TarReader(
    {
      onMember: (name: MemberName) => (found[name] = []),
      onData: (name: MemberName, piece: Uint8Array) => found[name]?.push(Buffer.from(piece)),
      onMemberEnd: () => undefined,
    },
    BUNDLE_LIMITS,
  );
  for (let at = 0; at < archive.length; at += step) reader.push(archive.subarray(at, at + step));
  reader.finish();
  return Object.fromEntries(
    Object.entries(found).map(([name, pieces]) => [name, Buffer.concat(pieces)]),
  );
}

const body = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }),
  fc.constantFrom(511, 512, 513, 1024, 10_240).map((length) => new Uint8Array(length).fill(7)),
);

describe('the tar archive', () => {
  it('is one that another reader takes: names, sizes, owners, and bytes', (context) => {
    if (!HAS_TAR) context.skip('not run: there is no tar');
    fc.assert(
      fc.property(body, body, (manifest, events) => {
        const archive = write([
          ['manifest.json', manifest],
          ['events.ndjson', events],
        ]);
        const list = runTar(
          ['--numeric-owner', '-tvf', '-', '--full-time', '--utc'],
          archive,
        ).toString();
        expect(
          list
            .trim()
            .split('\n')
            .map((line) => line.split(/\s+/)),
        ).toEqual([
          ['-rw-r--r--', '0/0', String(manifest.length), '1970-01-01', '00:00:00', 'manifest.json'],
          ['-rw-r--r--', '0/0', String(events.length), '1970-01-01', '00:00:00', 'events.ndjson'],
        ]);
        expect(runTar(['-xOf', '-', 'manifest.json'], archive).equals(manifest)).toBe(true);
        expect(runTar(['-xOf', '-', 'events.ndjson'], archive).equals(events)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it.each(['gnu', 'ustar', 'v7'])('of another writer is taken, in the format %s', (format) => {
    if (!HAS_TAR) return;
    fc.assert(
      fc.property(body, body, fc.integer({ min: 1, max: 3000 }), (manifest, events, step) => {
        writeFileSync(join(directory, 'manifest.json'), manifest);
        writeFileSync(join(directory, 'events.ndjson'), events);
        const archive = runTar([
          `--format=${format}`,
          '-cf',
          '-',
          'manifest.json',
          'events.ndjson',
        ]);
        const found = read(archive, step);
        expect(found['manifest.json']?.equals(manifest)).toBe(true);
        expect(found['events.ndjson']?.equals(events)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it('of another writer is refused with extended headers', (context) => {
    if (!HAS_TAR) context.skip('not run: there is no tar');
    writeFileSync(join(directory, 'manifest.json'), '{}');
    const archive = runTar(['--format=pax', '--pax-option=comment=x', '-cf', '-', 'manifest.json']);
    expect(() => read(archive, 512)).toThrow(
      expect.objectContaining({ code: 'SecurityExtendedHeader' }),
    );
  });

  it('reads back what it writes, whatever the pieces', () => {
    fc.assert(
      fc.property(body, body, fc.integer({ min: 1, max: 3000 }), (manifest, events, step) => {
        const archive = write([
          ['manifest.json', manifest],
          ['events.ndjson', events],
        ]);
        expect(Object.values(read(archive, step)).map((bytes) => bytes.length)).toEqual([
          manifest.length,
          events.length,
        ]);
      }),
    );
  });
});
