import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryCgroups } from '../../src/host/probe-cgroups.ts';

let dir = '';
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'assay-cgroup-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('tryCgroups()', () => {
  it('has nothing to try where nothing was found', () => {
    const none = { version: 0, reason: 'none' } as const;
    expect(tryCgroups(none)).toEqual(none);
  });

  it('drops a place that looks writable but holds no limits, and leaves nothing there', () => {
    const found = tryCgroups({ version: 2, memory: dir, pids: dir });
    expect(found.version).toBe(0);
    expect(found.reason).toContain('memory.max');
    expect(readdirSync(dir)).toEqual([]);
  });

  it('drops a place in which nothing can be made', () => {
    mkdirSync(join(dir, `assay-probe-${process.pid}`));
    const found = tryCgroups({ version: 1, pids: dir });
    expect(found).toMatchObject({
      version: 0,
      reason: expect.stringContaining('EEXIST') as string,
    });
  });
});
