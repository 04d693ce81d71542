import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlagValues } from '../../../src/cli/flag-values.ts';
import { makeFilter } from '../../../src/cli/show/filter.ts';
import { EventDocument } from '../../../src/cli/show/json.ts';
import { EventTable } from '../../../src/cli/show/table.ts';
import { BundleError } from '../../../src/evidence/bundle/bundle-error.ts';
import type { BundleEvent } from '../../../src/evidence/bundle/bundle.ts';
import { toFact } from '../../../src/evidence/bundle/facts.ts';
import { readUnverified } from '../../../src/evidence/bundle/read-unverified.ts';
import { makeSampleBundle } from './sample-run.ts';

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Everything that `evidence show` would do with what it finds; returns how many events there were. */
async function readAll(bytes: Uint8Array): Promise<{ events: number; bad: number; text: string }> {
  const flags = new FlagValues();
  flags.add('path', ['${CWD}/**']);
  flags.add('outcome', ['refused']);
  const isWanted = makeFilter(flags);
  const document = new EventDocument();
  let table: EventTable | undefined;
  let text = '';
  let events = 0;
  let bad = 0;
  await readUnverified(once(bytes), {
    onManifest: (manifest) => {
      table = new EventTable({ manifest, trust: '', columns: 120 });
      text += document.head(manifest);
      table.head();
    },
    onEvent: (event: BundleEvent) => {
      events += 1;
      text += document.row(event);
      const fact = toFact(event);
      table?.row(fact, event);
      isWanted?.(fact, event);
    },
    onBadLine: () => (bad += 1),
  });
  return { events, bad, text: text + document.end('disabled') };
}

describe('readUnverified()', () => {
  it('finds every event of a bundle that is good', async () => {
    const { events, bad, text } = await readAll(await makeSampleBundle({ fileCount: 5 }));
    expect({ events, bad }).toEqual({ events: 19, bad: 0 });
    expect((JSON.parse(text) as { events: object[] }).events).toHaveLength(19);
  });

  it('reads on where hashes, order and agreement are wrong', async () => {
    const tar = gunzipSync(await makeSampleBundle({ fileCount: 5 }));
    for (const text of ['"assayseq":3', '"assaycontenthash":"sha256:'])
      tar.fill('9', tar.indexOf(text) + text.length - 1, tar.indexOf(text) + text.length);
    const { events, bad } = await readAll(gzipSync(tar));
    expect(events + bad).toBe(19);
    expect(events).toBeGreaterThanOrEqual(17);
  });

  it('ends with a BundleError or with events, whatever bytes are changed', async () => {
    const tar = gunzipSync(await makeSampleBundle({ fileCount: 5 }));
    const piece = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc
        .constantFrom('null', '{}', '[]', '\n', '"data":1', '"type":[]', '\u0000')
        .map((text) => Buffer.from(text)),
    );
    const change = fc.tuple(fc.nat(tar.length - 16), piece);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const altered = Buffer.from(tar);
        for (const [at, bytes] of changes) altered.set(bytes, at);
        await readAll(gzipSync(altered, { level: 1 })).catch((error: unknown) => {
          expect(error).toBeInstanceOf(BundleError);
        });
      }),
      { numRuns: 400 },
    );
  });

  it('does not take JSON of any shape for more than it is', async () => {
    const tar = gunzipSync(await makeSampleBundle({ fileCount: 200 }));
    const start = tar.indexOf('{"assaycontenthash"');
    const types = [
      'policy',
      'environment',
      'layers',
      'degraded',
      'fs',
      'exec',
      'net',
      'change',
      'coverage',
      'summary',
    ];
    const event = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom(...types.map((name) => `assay.sandbox.${name}`)),
          fc.jsonValue(),
        ),
        data: fc.oneof(
          fc.dictionary(
            fc.constantFrom(
              'path',
              'op',
              'outcome',
              'surfaces',
              'layers',
              'passed',
              'command',
              'end',
              'change',
              'refused_by',
              '__proto__',
            ),
            fc.jsonValue(),
          ),
          fc.jsonValue(),
        ),
        time: fc.jsonValue(),
        assayseq: fc.jsonValue(),
        subject: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(event, async (one) => {
        const line = Buffer.from(`${JSON.stringify(one)}\n{"`);
        fc.pre(line.length < 60_000);
        const altered = Buffer.from(tar);
        altered.set(line, start);
        await readAll(gzipSync(altered, { level: 1 }));
      }),
      { numRuns: 300 },
    );
  });
});
