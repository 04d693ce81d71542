// What reading evidence bundles takes, beside hashing the same bytes and beside jq reading the same events.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './measure.mjs';
import { makeCostTable } from './tables.mjs';

const ASSAY = join(ROOT, 'bin/assay.js');
/** Of verify: intact, and nobody has signed it. */
const SIGNER_UNKNOWN = 10;
const BAR = { cpuMs: 1500, mib: 200 };

/** One table for each thing that is done with bundles. */
export async function* benchEvidence(bench, { isQuick, notes }) {
  const { writeSample } = await bench.load('bundles');
  const small = bench.scratch('small.tar.gz');
  await writeSample(small, 100_000);
  const hasJq = spawnSync('jq', ['--version']).status === 0;
  if (!hasJq) notes.push('jq was not measured: it is not installed');
  yield benchVerify(bench, { small, hasJq, isQuick });
  const other = bench.scratch('other.tar.gz');
  await writeSample(other, 100_100);
  yield benchDiff(bench, { small, other, hasJq, isQuick });
  if (isQuick) return;
  const large = bench.scratch('large.tar.gz');
  await writeSample(large, 1_000_000);
  yield benchGrowth(bench, { small, large });
  yield benchDiffGrowth(bench, { small, other, large });
}

function benchVerify(bench, { small, hasJq, isQuick }) {
  const events = bench.scratch('events.ndjson');
  unpack(small, events);
  const count = 'reduce inputs as $event (0; . + 1)';
  const commands = [
    { name: 'sha256sum', argv: ['sha256sum', events] },
    ...(hasJq ? [{ name: 'jq', argv: ['jq', '-n', count, events] }] : []),
    verify('verify', small),
  ];
  const costs = bench.weigh(commands, { rounds: isQuick ? 3 : 9 });
  const label = 'assay evidence verify';
  return makeCostTable('Verify a bundle of 100,000 events', costs, [
    { name: 'sha256sum', label: 'sha256sum of the events' },
    ...(hasJq ? [{ name: 'jq', label: 'jq counting the events', against: 'sha256sum' }] : []),
    { name: 'verify', label, against: 'sha256sum', bar: BAR },
    ...(hasJq ? [{ name: 'verify', label, against: 'jq' }] : []),
  ]);
}

function benchDiff(bench, { small, other, hasJq, isQuick }) {
  const events = ['events-1.ndjson', 'events-2.ndjson'].map((name) => bench.scratch(name));
  unpack(small, events[0]);
  unpack(other, events[1]);
  const count = 'reduce inputs as $event (0; . + 1)';
  const commands = [
    { name: 'sha256sum', argv: ['sha256sum', ...events] },
    ...(hasJq ? [{ name: 'jq', argv: ['jq', '-n', count, ...events] }] : []),
    diff('diff', small, other),
  ];
  const costs = bench.weigh(commands, { rounds: isQuick ? 3 : 9 });
  const label = 'assay evidence diff';
  return makeCostTable('Compare two bundles of 100,000 events', costs, [
    { name: 'sha256sum', label: 'sha256sum of the events of both' },
    ...(hasJq ? [{ name: 'jq', label: 'jq counting the events', against: 'sha256sum' }] : []),
    { name: 'diff', label, against: 'sha256sum', bar: { cpuMs: 2 * BAR.cpuMs, mib: BAR.mib } },
    ...(hasJq ? [{ name: 'diff', label, against: 'jq' }] : []),
  ]);
}

function benchDiffGrowth(bench, { small, other, large }) {
  const commands = [diff('small', small, other), diff('large', large, large)];
  const costs = bench.weigh(commands, { rounds: 3 });
  return makeCostTable('Compare ten times as many', costs, [
    { name: 'small', label: '100,000 events each' },
    { name: 'large', label: '1,000,000 events each', against: 'small', bar: { ratio: 11 } },
  ]);
}

function benchGrowth(bench, { small, large }) {
  const costs = bench.weigh([verify('small', small), verify('large', large)], { rounds: 3 });
  return makeCostTable('Verify ten times as many', costs, [
    { name: 'small', label: '100,000 events' },
    {
      name: 'large',
      label: '1,000,000 events',
      against: 'small',
      bar: { ratio: 11, mib: BAR.mib },
    },
  ]);
}

function verify(name, bundle) {
  return { name, argv: [ASSAY, 'evidence', 'verify', bundle], code: SIGNER_UNKNOWN };
}

function diff(name, baseline, candidate) {
  return { name, argv: [ASSAY, 'evidence', 'diff', baseline, candidate] };
}

function unpack(bundle, path) {
  const fd = openSync(path, 'w');
  execFileSync('tar', ['-xzOf', bundle, 'events.ndjson'], { stdio: ['ignore', fd, 'inherit'] });
  closeSync(fd);
}
