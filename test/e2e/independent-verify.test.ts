import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanBundle } from '../../src/cli/bundle-file.ts';
import { BundleError } from '../../src/evidence/bundle/bundle-error.ts';
import { BAD_BUNDLES, makeUpstream } from '../evidence/bundle/bad-bundles.ts';
import * as forge from '../evidence/bundle/forge.ts';
import { Dice, mutate } from '../evidence/bundle/mutations.ts';
import { makeSampleBundle } from '../evidence/bundle/sample-run.ts';
import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { fixturePath, PYTHON, runAssay } from './run-assay.ts';

/*
 * A verifier in another language that was written from docs/bundle-format.md alone has to come to the same verdicts as
 * the one of assay: what only the code knows is missing from the page.
 */

const INTEROP =
  process.env['ASSAY_INTEROP'] ?? join(import.meta.dirname, '../../../shared/interop');
const INTACT = 10;

interface Verdict {
  readonly code: string;
  readonly exit: number;
}

/** Of the independent one; of all bundles at once, since each start of Python takes its time. */
function judgeApart(paths: readonly string[]): Verdict[] {
  const { stdout, stderr } = spawnSync(PYTHON, [fixturePath('independent-verify.py'), ...paths], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const found = JSON.parse(line) as { verdict: string; code?: string; exit: number };
      return { code: found.code ?? found.verdict, exit: found.exit };
    });
}

/** Of assay. */
async function judge(path: string): Promise<Verdict> {
  try {
    await scanBundle(path);
    return { code: 'intact', exit: INTACT };
  } catch (error) {
    if (error instanceof BundleError) return { code: error.code, exit: error.exitCode };
    throw error;
  }
}

const place = mkdtempSync(join(tmpdir(), 'assay-apart-'));
afterAll(() => rmSync(place, { recursive: true }));

function save(name: string, bytes: Uint8Array): string {
  writeFileSync(join(place, name), bytes);
  return join(place, name);
}

/** Small departures, with every hash made again: whether they are allowed is a matter of the page. */
const VARIANTS: Readonly<Record<string, (contents: forge.Contents) => void>> = {
  nothing: () => {},
  'git of null': ({ manifest }) => (manifest.producer.git = null),
  'another git in one event': ({ events }) => (events[1].assaygit = 'other'),
  'a leap second': ({ events }) => (events[1].time = '2016-12-31T23:59:60.000Z'),
  'a leap day': ({ events }) => (events[1].time = '2000-02-29T00:00:00.000Z'),
  'no leap day': ({ events }) => (events[1].time = '2100-02-29T00:00:00.000Z'),
  'an hour of 24': ({ events }) => (events[1].time = '2026-01-01T24:00:00.000Z'),
  'the year 0': ({ events }) => (events[1].time = '0000-01-01T00:00:00.000Z'),
  'a space in a time': ({ events }) => (events[1].time = '2026-01-01 00:00:00.000Z'),
  'small letters in a time': ({ events }) => (events[1].time = '2026-01-01t00:00:00.000z'),
  'an empty subject': ({ events }) => (events[1].subject = ''),
  'a subject of null': ({ events }) => (events[1].subject = null),
  'a trace': ({ events }) => (events[1].traceparent = 'x'),
  'a trace that is a number': ({ events }) => (events[1].traceparent = 5),
  'a policy id of null': ({ events }) => (events[1].assaypolicyid = null),
  'half a sequence number': ({ events }) => (events[1].assayseq = 1.5),
  'an attribute more': ({ events }) => (events[1].more = { a: [1, 1e21, 1e-7, -0.5] }),
  'data more': ({ events }) => (events[1].data.more = { '\u{10000}': 1, '\ue000': 2, é: '\u007f' }),
  'data that is a list': ({ events }) => (events[1].data = []),
  'a source that starts with a colon': ({ events }) => events.forEach((one) => (one.source = ':x')),
  'a source that ends in a colon': ({ events }) => events.forEach((one) => (one.source = 'x:')),
  'a member more of the producer': ({ manifest }) => (manifest.producer.more = 1),
  'a member more of the algorithms': ({ manifest }) => (manifest.algorithms.more = 'x'),
  'a member more of the manifest': ({ manifest }) => (manifest.more = 1),
};

describe('a verifier that knows nothing but the format page', () => {
  let good: Buffer;
  beforeAll(async () => {
    good = await makeSampleBundle();
  });

  it('refuses every bad bundle for the same reason', () => {
    // Limits are the ones of the page there.
    const bad = BAD_BUNDLES.filter(({ limits }) => limits === undefined);
    expect(bad.length).toBeGreaterThan(120);
    const found = judgeApart(bad.map(({ make }, index) => save(`bad-${index}`, make(good))));
    const named = (code: string, index: number): string => `${bad[index]?.name}: ${code}`;
    expect(found.map(({ code }, index) => named(code, index))).toEqual(
      bad.map(({ code }, index) => named(code, index)),
    );
  });

  it('takes and refuses the same variants of either format', async () => {
    const paths: string[] = [];
    for (const [name, change] of Object.entries(VARIANTS))
      for (const contents of [forge.parse(good), makeUpstream()]) {
        change(contents);
        paths.push(save(`${paths.length} ${name}`, forge.pack(forge.reseal(contents))));
      }
    const own = await Promise.all(paths.map(judge));
    expect(judgeApart(paths)).toEqual(own);
    expect(own.filter(({ exit }) => exit === INTACT).length).toBeGreaterThan(10);
  });

  it('comes to the same verdict about what chance has changed', async () => {
    const other = await makeSampleBundle({ fileCount: 5 });
    const dice = new Dice(20_261_115);
    const paths = Array.from({ length: 400 }, (_, index) =>
      save(`mutant-${index}`, mutate(good, other, dice).bytes),
    );
    const own = await Promise.all(paths.map(judge));
    // What is wrong in several ways may be refused for any of them.
    const isIntact = ({ exit }: Verdict, index: number): string => `${index} ${exit === INTACT}`;
    expect(judgeApart(paths).map(isIntact)).toEqual(own.map(isIntact));
  });

  it('comes to the stated verdicts about bundles of another implementation', async (context) => {
    if (!existsSync(INTEROP)) context.skip('not run: the data is not here');
    const names = [
      'test-bundle',
      'demo-export-bundle',
      'invalid-manifest.bundle',
      'receipt-cyclonedx',
      'receipt-openfeature',
      'receipt-promptfoo',
    ].map((name) => join(INTEROP, 'bundles/upstream', `${name}.tar.gz`));
    names.push(join(INTEROP, 'derived/derived-sandbox-true.bundle.tar.gz'));
    const found = judgeApart(names);
    expect(found).toEqual(await Promise.all(names.map(judge)));
    expect(found.map(({ exit }) => exit)).toEqual([10, 10, 2, 10, 10, 10, 10]);
  });

  it('says when there is no such file', () => {
    expect(judgeApart([join(place, 'none')])).toEqual([{ code: 'IntegrityIo', exit: 7 }]);
  });
});

describeForEachPerson(
  'a verifier that knows nothing but the format page, of real runs',
  (person) => {
    const makePlace = usePlaces(person);

    it.each<[string, string, string[]]>([
      ['a run that did much', 'echo a > a; mv a b; chmod 600 b; ls /usr /nowhere > c; rm b', []],
      [
        'names that are hostile',
        "touch '=1' \"$(printf 'a\\nb\\033[31m')\" 'é\u{1f600}' 'q\"\\'",
        [],
      ],
      ['refusals', 'echo x > /etc/motd; cat ~/.ssh/id; mkdir .vscode', []],
      [
        'a connection',
        `${PYTHON} -c 'import socket; socket.socket().connect(("192.0.2.1", 9))'`,
        [],
      ],
      ['a run that was killed', 'kill -9 $$', []],
      ['a run out of time', 'sleep 30', ['--timeout', '500ms']],
      ['effects only', 'echo a > a; cat a', ['--observe', 'effects']],
      ['a dry run', 'echo x > /usr/nothing', ['--dry-run']],
      ['fewer layers', 'echo a > a', ['--layers=-mount']],
    ])('takes the bundle of %s', async (_, script, flags) => {
      const room = makePlace();
      const path = join(room.makeDir('out'), 'run.bundle.tar.gz');
      await runAssay({
        place: room,
        flags: ['--preset', 'coding-agent', '--bundle', path, ...flags],
        command: ['/bin/sh', '-c', script],
      });
      expect(judgeApart([path])).toEqual([{ code: 'intact', exit: INTACT }]);
      expect(await judge(path)).toEqual({ code: 'intact', exit: INTACT });
    });
  },
);
