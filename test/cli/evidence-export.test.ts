import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serialiseEvidence } from '../../src/artifacts/serialise.ts';
import { scanBundle } from '../../src/cli/bundle-file.ts';
import { run } from '../../src/cli/commands/evidence-export.ts';
import type { BundleEvent } from '../../src/evidence/bundle/bundle.ts';
import { BundleError } from '../../src/evidence/bundle/bundle-error.ts';
import { makeEvidence } from '../../src/evidence/profile.ts';
import { makeSampleBundle } from '../evidence/bundle/sample-run.ts';
import { OPTIONS, sampleRecord } from '../evidence/sample-record.ts';
import { capture } from './capture.ts';

const place = mkdtempSync(join(tmpdir(), 'assay-export-test-'));
afterAll(() => rmSync(place, { recursive: true }));
const bundle = join(place, 'run.bundle.tar.gz');

beforeAll(async () => writeFileSync(bundle, await makeSampleBundle()));

async function readEvents(path: string): Promise<{ kind: string; events: BundleEvent[] }> {
  const events: BundleEvent[] = [];
  const { kind } = await scanBundle(path, { onEvent: (event) => events.push(event) });
  return { kind, events };
}

describe('evidence export', () => {
  it.each(['ocsf', 'otlp', 'csv', 'upstream-policy'])('prints %s', async (format) => {
    const first = await capture(run, { format }, [bundle]);
    expect(first.code).toBe(0);
    expect(first.stdout.length).toBeGreaterThan(100);
    const again = await capture(run, { format }, [bundle]);
    expect(again.stdout).toBe(first.stdout);
  });

  it('writes to a file, whole or not at all, and leaves nothing else behind', async () => {
    const output = join(place, 'out.csv');
    const { stdout } = await capture(run, { format: 'csv', output }, [bundle]);
    expect(stdout).toBe('');
    const { events } = await readEvents(bundle);
    expect(readFileSync(output, 'utf8').split('\r\n').length).toBe(events.length + 2);
    expect(readdirSync(place).sort()).toEqual(['out.csv', 'run.bundle.tar.gz']);
    rmSync(output);
  });

  it('prints nothing of a bundle that is not intact', async () => {
    const bytes = readFileSync(bundle);
    bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
    const broken = join(place, 'broken.tar.gz');
    writeFileSync(broken, bytes);
    const output = join(place, 'none.csv');
    await expect(capture(run, { format: 'csv', output }, [broken])).rejects.toThrow(BundleError);
    expect(readdirSync(place)).not.toContain('none.csv');
    rmSync(broken);
  });

  it('writes a bundle in the older format, which verifies as that', async () => {
    const output = join(place, 'older.tar.gz');
    await capture(run, { format: 'upstream', output }, [bundle]);
    const { kind, events } = await readEvents(output);
    expect(kind).toBe('upstream');
    expect(events[0]).toMatchObject({
      type: 'assay.profile.started',
      source: expect.stringMatching(/^urn:assay:cli:/),
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    });
    const first = readFileSync(output);
    await capture(run, { format: 'upstream', output }, [bundle]);
    expect(readFileSync(output).equals(first)).toBe(true);
    rmSync(output);
  });

  it('writes a bundle of an evidence profile, and a policy', async () => {
    const event = { kind: 'file', op: 'write', path: '/home/ada/work/x' } as const;
    const profile = join(place, 'p.evidence.yaml');
    const evidence = makeEvidence(sampleRecord([event]), OPTIONS);
    writeFileSync(profile, [...serialiseEvidence(evidence, 'yaml')].join(''));
    const output = join(place, 'profile.tar.gz');
    await capture(run, { profile, output });
    const { kind, events } = await readEvents(output);
    expect(kind).toBe('upstream');
    expect(events.map(({ subject }) => subject)).toContain('${CWD}/x');
    const { stdout } = await capture(run, { profile, format: 'upstream-policy' });
    expect(stdout).toContain('    - "./x"\n');
    rmSync(output);
    rmSync(profile);
  });

  it.each<[string, Record<string, string>, string[], RegExp]>([
    ['no form', {}, ['b'], /--format is missing/],
    ['nothing', { format: 'csv' }, [], /nothing to export/],
    ['both', { format: 'upstream', profile: 'p' }, ['b'], /two things/],
    ['a table of a profile', { format: 'ocsf', profile: 'p' }, [], /cannot be exported as ocsf/],
    ['detail of a table', { format: 'csv', detail: 'full' }, ['b'], /--detail is for/],
  ])('refuses %s', async (_, flags, rest, message) => {
    await expect(capture(run, flags, rest)).rejects.toThrow(message);
  });

  it('refuses a profile that is none, and names what is wrong', async () => {
    const profile = join(place, 'wrong.yaml');
    writeFileSync(profile, 'version: "1.0"\nname: x\ntotal_runs: many\n');
    await expect(capture(run, { profile })).rejects.toThrow(/total_runs is not a whole number/);
    rmSync(profile);
  });

  it('does not write a bundle to a terminal', async () => {
    const { isTTY } = process.stdout;
    process.stdout.isTTY = true;
    try {
      await expect(capture(run, { format: 'upstream' }, [bundle])).rejects.toThrow(/terminal/);
    } finally {
      process.stdout.isTTY = isTTY;
    }
  });
});
