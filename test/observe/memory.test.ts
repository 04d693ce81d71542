import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'test/fixtures/record-a-million.cjs');
const TIMEOUT_MS = 120_000;

interface Result {
  readonly addedMiB: number;
  readonly events: number;
  readonly total: number;
  readonly damagedLines: number;
}

describe('a million events', () => {
  let directory = '';
  let recorder = '';

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'assay-recorder-'));
    recorder = join(directory, 'recorder.cjs');
    await build({
      cwd: ROOT,
      input: 'src/observe/recorder.ts',
      platform: 'node',
      logLevel: 'warn',
      output: { file: recorder, format: 'cjs' },
    });
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each([
    ['distinct', 85],
    ['scattered', 85],
    ['few', 36],
  ])(
    'of which %s add less than %i MiB',
    (kind, limitMiB) => {
      const text = execFileSync(process.execPath, [PROGRAM, recorder, kind], { encoding: 'utf8' });
      const result = JSON.parse(text) as Result;
      expect(result).toMatchObject({ total: 1_000_000, damagedLines: 0 });
      expect(result.events).toBeLessThanOrEqual(100_000);
      expect(result.addedMiB).toBeLessThan(limitMiB);
    },
    TIMEOUT_MS,
  );
});
