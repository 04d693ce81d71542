import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CgroupSet } from '../../src/launch/cgroup.ts';

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'assay-cgroup-'))));
afterEach(() => rmSync(root, { recursive: true }));

it('make() goes around what a run with the same number has left behind', () => {
  const name = `assay-${process.pid}`;
  mkdirSync(join(root, name));
  mkdirSync(join(root, `${name}-1`));
  const cgroups = new CgroupSet();
  const joined = cgroups.make([{ directory: root, settings: [['pids.max', '9']] }], name);
  expect(joined).toEqual([join(root, `${name}-2/cgroup.procs`)]);
  expect(readFileSync(join(root, `${name}-2/pids.max`), 'utf8')).toBe('9');
});

it('make() removes what runs have left that are gone, and nothing else', () => {
  const dead = `assay-${2 ** 22 + 1}`; // more processes than the kernel can number
  const kept = ['assay-1', 'assay-other', 'system.slice'];
  for (const name of [dead, `${dead}-3`, ...kept]) mkdirSync(join(root, name));
  new CgroupSet().make([{ directory: root, settings: [] }], `assay-${process.pid}`);
  expect(readdirSync(root).sort()).toEqual([`assay-${process.pid}`, ...kept].sort());
});

it('make() says what is wrong where none can be made', () => {
  const cgroups = new CgroupSet();
  const make = (): unknown =>
    cgroups.make([{ directory: join(root, 'none'), settings: [] }], 'assay-7');
  expect(make).toThrow(/Cannot set up the cgroup .*none\/assay-7: ENOENT/);
  expect(existsSync(join(root, 'none'))).toBe(false);
});
