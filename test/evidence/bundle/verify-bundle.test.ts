import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import {
  BUNDLE_CODES,
  BUNDLE_REASONS,
  BundleError,
} from '../../../src/evidence/bundle/bundle-error.ts';
import type { BundleEvent } from '../../../src/evidence/bundle/bundle.ts';
import { verifyBundle, type VerifyOptions } from '../../../src/evidence/bundle/verify-bundle.ts';
import { BAD_BUNDLES, makeUpstream } from './bad-bundles.ts';
import * as forge from './forge.ts';
import { makeSampleBundle } from './sample-run.ts';

let good: Buffer;

beforeAll(async () => {
  good = await makeSampleBundle();
});

async function judge(bundle: Uint8Array, options: VerifyOptions = {}): Promise<string> {
  try {
    return (await verifyBundle(forge.chunksOf(bundle), options)).kind;
  } catch (error) {
    if (error instanceof BundleError) return error.code;
    throw error;
  }
}

describe('verifyBundle()', () => {
  it('takes a good bundle, and says what it checked', async () => {
    const events: BundleEvent[] = [];
    const lines: number[] = [];
    const { checks, ...result } = await verifyBundle(forge.chunksOf(good), {
      onEvent: (event, line) => {
        events.push(event);
        lines.push(line);
      },
    });
    const contents = forge.parse(good);
    expect(result).toEqual({
      manifest: contents.manifest,
      kind: 'sandbox',
      bytes: good.length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(events).toEqual(contents.events);
    expect(lines).toEqual(events.map((_, at) => at + 1));
    expect(checks.map(({ name }) => name)).toEqual([
      'container',
      'manifest',
      'events',
      'run root',
      'run',
      'identity',
    ]);
  });

  it('takes it in pieces of any size', async () => {
    for (const size of [1, 7, 511, 513, 1 << 20])
      await expect(verifyBundle(forge.chunksOf(good, size)).then(({ kind }) => kind)).resolves.toBe(
        'sandbox',
      );
  });

  it('is not fooled by its own way of making bundles', async () => {
    expect(await judge(forge.pack(forge.reseal(forge.parse(good))))).toBe('sandbox');
    expect(await judge(forge.pack(makeUpstream()))).toBe('upstream');
  });

  it.each(BAD_BUNDLES)('refuses $name: $code', async ({ make, code, limits }) => {
    expect(await judge(make(good), { limits })).toBe(code);
  });

  it('has more than sixty ways to refuse, and a bundle for every code but that of the file system', () => {
    expect(BAD_BUNDLES.length).toBeGreaterThan(60);
    const shown = new Set<string>(BAD_BUNDLES.map(({ code }) => code));
    expect(Object.keys(BUNDLE_CODES).filter((code) => !shown.has(code))).toEqual(['IntegrityIo']);
  });

  it('says where', async () => {
    const bad = forge.parse(good);
    bad.events[6].data.outcome = 'EACCES';
    await expect(
      verifyBundle(forge.chunksOf(forge.pack(forge.sealManifest(bad)))),
    ).rejects.toMatchObject({
      code: 'IntegrityEventHash',
      reason: 'E_EVIDENCE_INTEGRITY',
      exitCode: 1,
      at: { member: 'events.ndjson', line: 7 },
    });
  });

  it.each<[string, (contents: forge.Contents) => string]>([
    [
      'white space',
      ({ events }) =>
        events.map((event) => `${JSON.stringify(event, null, 1).replaceAll('\n', '')}\n`).join(''),
    ],
    [
      'carriage returns',
      ({ events }) => events.map((event) => `${JSON.stringify(event)}\r\n`).join(''),
    ],
    [
      'no line feed at the end',
      ({ events }) => events.map((event) => JSON.stringify(event)).join('\n'),
    ],
    [
      'attributes that are not known',
      ({ events }) =>
        forge.writeEvents(events.map((event): forge.Json => ({ ...event, more: { data: 1 } }))),
    ],
    [
      'attributes that are null',
      ({ events }) =>
        forge.writeEvents(
          events.map((event): forge.Json => ({ ...event, traceparent: null, assaypolicyid: null })),
        ),
    ],
  ])('takes the older format with %s', async (_, write) => {
    const contents = makeUpstream();
    const text = write(contents);
    forge.sealManifest(contents, text);
    const subjects: unknown[] = [];
    const bundle = forge.packTexts(JSON.stringify(contents.manifest, null, 2), text);
    const options = { onEvent: (event: BundleEvent) => subjects.push(event.subject) };
    expect(await judge(bundle, options)).toBe('upstream');
    expect(subjects).toEqual(['/file-0', '/file-1']);
  });

  it.each<[string, unknown]>([
    ['names that look like numbers', { 10: 1, 9: 2, a: { 2: 0, 10: 0 } }],
    ['a name that JavaScript treats in its own way', JSON.parse('{"__proto__":{"a":1},"b":[]}')],
    ['text outside ASCII', { é: '\u2028😀\u0000', '\u{10000}': 1, '\ue000': 2 }],
    ['odd numbers', { a: [1e21, 1e-7, -1.5, 0, 1e300] }],
    ['an escape that is not one', { a: String.raw`\ud800` }],
  ])('takes %s', async (_, extra) => {
    const contents = forge.parse(good);
    contents.events[3].data.extra = extra;
    const found: unknown[] = [];
    const onEvent = ({ data }: BundleEvent): unknown => found.push((data as forge.Json).extra);
    expect(await judge(forge.pack(forge.reseal(contents)), { onEvent })).toBe('sandbox');
    expect(found[3]).toEqual(extra);
  });

  it('takes exactly as much as the limits say', async () => {
    const { manifest, events } = forge.unpack(good);
    const lines = events.trimEnd().split('\n');
    const exact = {
      bundleBytes: good.length,
      manifestBytes: Buffer.byteLength(manifest),
      events: lines.length,
      lineBytes: Math.max(...lines.map((line) => Buffer.byteLength(line))),
      pathBytes: 'manifest.json'.length,
    };
    expect(await judge(good, { limits: exact })).toBe('sandbox');
    for (const name of Object.keys(exact) as (keyof typeof exact)[])
      expect(await judge(good, { limits: { ...exact, [name]: exact[name] - 1 } }), name).toMatch(
        /^Limit/,
      );
  });

  it('ends at the first bad byte of a source that never ends', async () => {
    let reads = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        reads += 1;
        yield reads === 1 ? good.subarray(0, 10) : Buffer.alloc(1000, 0xff);
      }
    }
    await expect(verifyBundle(endless())).rejects.toThrow(BundleError);
    expect(reads).toBeLessThan(10);
  });
});

describe('docs/bundle-format.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/bundle-format.md'), 'utf8');

  it('explains every code with its reason and exit code, and no other', () => {
    const rows = Array.from(
      page.matchAll(/^\| `((?:Integrity|Contract|Limit|Security)\w+)` +\| (\d+) +\|/gm),
      ([, code, exit]) => [code, Number(exit)] as const,
    );
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(
        Object.entries(BUNDLE_CODES).map(([code, reason]) => [code, BUNDLE_REASONS[reason]]),
      ),
    );
  });
});
