import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { verifyBundle } from '../../../src/evidence/bundle/verify-bundle.ts';
import { compareBundles, type Comparison } from '../../../src/evidence/diff/compare.ts';
import { BASELINE, CANDIDATE, Ledger, type SideBit } from '../../../src/evidence/diff/ledger.ts';
import { type Side, SideReader } from '../../../src/evidence/diff/side.ts';
import { makeBundle } from './make-bundle.ts';
import { compareDrafts, file, network, program } from './make-sides.ts';

/** Bundles of another implementation, where they lie beside the checkout. */
const INTEROP =
  process.env['ASSAY_INTEROP'] ?? join(import.meta.dirname, '../../../../shared/interop');

const NAMES = [
  'bundles/upstream/test-bundle.tar.gz',
  'bundles/upstream/demo-export-bundle.tar.gz',
  'bundles/upstream/receipt-cyclonedx.tar.gz',
  'bundles/upstream/receipt-openfeature.tar.gz',
  'bundles/upstream/receipt-promptfoo.tar.gz',
  'derived/derived-sandbox-true.bundle.tar.gz',
];

type Source = string | Buffer;

async function read(source: Source, ledger: Ledger, bit: SideBit): Promise<Side> {
  const reader = new SideReader(ledger, bit);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (typeof source !== 'string') yield source;
    else yield* createReadStream(join(INTEROP, source)) as AsyncIterable<Uint8Array>;
  }
  return reader.finish(await verifyBundle(chunks(), { onEvent: (event) => reader.add(event) }));
}

async function compare(before: Source, after: Source): Promise<Comparison> {
  const ledger = new Ledger();
  const baseline = await read(before, ledger, BASELINE);
  return compareBundles(ledger, baseline, await read(after, ledger, CANDIDATE));
}

describe('bundles of another implementation', () => {
  beforeEach((context) => {
    if (!existsSync(INTEROP)) context.skip('not run: the bundles are not here');
  });

  it.each(NAMES)('do not differ from themselves: %s', async (name) => {
    const { differences, hasSameRoot, doubts } = await compare(name, name);
    expect(differences).toEqual([]);
    expect(hasSameRoot).toBe(true);
    expect(doubts).toHaveLength(2);
  });

  it.each(NAMES.flatMap((a) => NAMES.filter((b) => b > a).map((b) => [a, b] as const)))(
    'differ from each other: %s and %s',
    async (a, b) => {
      const { differences } = await compare(a, b);
      const back = await compare(b, a);
      expect(back.differences.map(({ subject }) => subject)).toEqual(
        differences.map(({ subject }) => subject),
      );
      // A demo with no event of its own has nothing to differ in but the rest of the other one.
      expect(differences.length).toBeGreaterThan(0);
    },
  );

  it('see new hosts and programs in them', async () => {
    const [test = '', demo = ''] = NAMES;
    const { counts } = await compare(demo, test);
    expect(counts).toEqual({ 'new-host': 1, 'new-endpoint': 1, 'new-program': 1 });
  });

  it('are compared with ours on what both have', async () => {
    const ours = await makeBundle({
      facts: [
        network('connect', 'tcp:api.example.com:443'),
        program('echo'),
        file('read', '/tmp/test-file.txt'),
        file('write', '${HOME}/x'),
      ],
    });
    const { differences, notCompared } = await compare(NAMES[0] ?? '', ours);
    expect(
      differences.map(({ change, group, subject }) => `${change} ${group} ${subject}`),
    ).toEqual(['new files ${HOME}/x', 'new programs /usr/bin/make']);
    expect(notCompared[0]).toContain('the baseline is of the older format');
  });

  it('say so when the older one has nothing to compare with', async () => {
    const ours = await makeBundle({
      facts: [file('write', '${HOME}/x'), program('/usr/bin/true')],
    });
    const { notCompared, differences } = await compare(ours, NAMES.at(-1) ?? '');
    expect(notCompared).toContain(
      'files: the candidate has none, and does not say whether anybody looked',
    );
    expect(differences.map(({ change, subject }) => [change, subject])).toEqual([
      ['gone', '/usr/bin/make'],
    ]);
  });
});

describe('the older format', () => {
  it.each([
    ['./a', '${CWD}/a'],
    ['~/a', '${HOME}/a'],
    ['${ASSAY_TMP}/a', '${TMPDIR}/a'],
    ['/etc/hosts', '/etc/hosts'],
  ])('calls a place %s that ours calls %s', (theirs, ours) => {
    const event = {
      type: 'assay.sandbox.fs',
      subject: theirs,
      data: { op: 'read', path: theirs, backend: 'x' },
    };
    const { differences } = compareDrafts(
      { kind: 'upstream', events: [event] },
      { events: [file('read', ours)] },
    );
    expect(differences).toEqual([]);
  });

  it.each([
    ['assay.sandbox.policy', { name: 1 }],
    ['assay.sandbox.environment', { passed: 'x', removed: [1, null] }],
    ['assay.sandbox.layers', { layers: [null, 1, { layer: [] }] }],
    ['assay.sandbox.coverage', { surfaces: { a: null, b: 1 } }],
    ['assay.sandbox.summary', { command: [1], end: { exit_code: {} } }],
    ['assay.sandbox.change', { change: 1 }],
    ['assay.sandbox.exec', { image_digests: [1] }],
    ['assay.coding_agent.evidence_pack.v0', { coverage: { reads: null } }],
    ['assay.profile.started', { command: 'x' }],
    ['assay.sandbox.degraded', null],
    ['assay.sandbox.fs', 'x'],
  ])('may have anything in %s', (type, data) => {
    const events = [{ type, data }];
    for (const kind of ['upstream', 'sandbox'] as const)
      expect(compareDrafts({ kind: 'upstream', events }, { kind, events }).differences).toEqual([]);
    expect(() =>
      compareDrafts({ kind: 'upstream', events: [] }, { kind: 'upstream', events }),
    ).not.toThrow();
  });
});
