import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CgroupSet } from '../../src/launch/cgroup.ts';

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'assay-cgroup-'))));
afterEach(() => rmSync(root, { recursive: true }));

it('make() goes around what a run with the same number has left behind', () => {
  mkdirSync(join(root, 'assay-7'));
  mkdirSync(join(root, 'assay-7-1'));
  const cgroups = new CgroupSet();
  const joined = cgroups.make([{ directory: root, settings: [['pids.max', '9']] }], 'assay-7');
  expect(joined).toEqual([join(root, 'assay-7-2/cgroup.procs')]);
  expect(readFileSync(join(root, 'assay-7-2/pids.max'), 'utf8')).toBe('9');
});

it('make() says what is wrong where none can be made', () => {
  const cgroups = new CgroupSet();
  const make = (): unknown =>
    cgroups.make([{ directory: join(root, 'none'), settings: [] }], 'assay-7');
  expect(make).toThrow(/Cannot set up the cgroup .*none\/assay-7: ENOENT/);
  expect(existsSync(join(root, 'none'))).toBe(false);
});
