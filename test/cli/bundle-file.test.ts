import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { scanBundle } from '../../src/cli/bundle-file.ts';
import { makeSampleBundle } from '../evidence/bundle/sample-run.ts';

const directory = mkdtempSync(join(tmpdir(), 'assay-bundle-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('scanBundle()', () => {
  it('verifies a file', async () => {
    const path = join(directory, 'good.tgz');
    writeFileSync(path, await makeSampleBundle());
    expect((await scanBundle(path)).kind).toBe('sandbox');
  });

  it.each([
    ['a file that is missing', 'missing.tgz', 'IntegrityIo', 'There is no such file'],
    ['a directory', '.', 'IntegrityIo', 'It is a directory'],
    ['an empty file', 'empty.tgz', 'IntegrityGzip', 'It is empty'],
    ['any other file', 'text.tgz', 'IntegrityGzip', 'It is not a gzip file'],
  ])('says what is wrong with %s', async (_, name, code, message) => {
    writeFileSync(join(directory, 'empty.tgz'), '');
    writeFileSync(join(directory, 'text.tgz'), 'text');
    const file = join(directory, name);
    await expect(scanBundle(file)).rejects.toMatchObject({
      code,
      message,
      file,
      reason: 'E_EVIDENCE_UNREADABLE',
      exitCode: 7,
    });
  });
});
