import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePlace } from '../core/keys/make-keys.ts';
import { ASSAY } from './signed-run.ts';
import { makeSampleBundle } from '../evidence/bundle/sample-run.ts';

const place = makePlace();

/** In a shell in which no file can have more than so many blocks of 1 KiB, as on a disk that is full. */
function runWithRoom(blocks: number, script: string): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', `trap '' XFSZ; ulimit -f ${blocks}; ${script}`, ASSAY],
    { cwd: place, encoding: 'utf8' },
  );
  return { status, stderr };
}

beforeAll(async () => {
  writeFileSync(join(place, 'b.tar.gz'), await makeSampleBundle());
});

describe('what cannot be written as a whole', () => {
  it.each([
    'show b.tar.gz',
    'show b.tar.gz --json',
    'verify b.tar.gz',
    'lint b.tar.gz --format sarif',
    'diff b.tar.gz b.tar.gz --format json',
    'export b.tar.gz --format ocsf',
  ])('is an error, also on standard output: %s', (command) => {
    const expected = {
      status: 3,
      stderr: expect.stringMatching(/^assay: Cannot write the output: .*\n.*\nE_OUTPUT_/) as string,
    };
    expect(runWithRoom(9, `"$0" evidence ${command} > /dev/full`)).toEqual(expected);
    if (/^(?:verify|export)/.test(command)) return;
    // A part of it fits, and all of it was to go out at once. (Of an export, not even its copy in the tmp does.)
    expect(runWithRoom(1, `"$0" evidence ${command} > part`)).toEqual(expected);
    expect(statSync(join(place, 'part')).size).toBe(1024);
  });

  it('leaves no part of a file of --output', () => {
    const command = 'evidence export b.tar.gz --format csv -o table.csv';
    expect(runWithRoom(1, `"$0" ${command}`).stderr).toContain('E_OUTPUT_NOT_WRITTEN');
    expect(readdirSync(place).filter((name) => name.includes('table'))).toEqual([]);
  });

  it('leaves no part of a key, which would keep the next one from its name', () => {
    const { status, stderr } = runWithRoom(0, '"$0" keygen ops');
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringMatching('E_KEY') });
    expect(existsSync(join(place, 'ops'))).toBe(false);
  });
});
