import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  claimCgroup,
  LEAF_NAME,
  listStrangers,
  releaseCgroup,
} from '../../src/host/delegated-cgroup.ts';

/** The tree of version 2, as it is or beside those of version 1. */
const ROOT = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find((path) =>
  existsSync(join(path, 'cgroup.subtree_control')),
);

function whyNot(): string | undefined {
  if (ROOT === undefined) return 'there is no cgroup tree of version 2';
  try {
    accessSync(join(ROOT, 'cgroup.procs'), constants.W_OK);
    return undefined;
  } catch {
    return 'only root may make cgroups here';
  }
}

const reason = whyNot();

/** Which controllers it gives on is decided above it, by root of the machine: here none. `.ci/long` tries all of it. */
describe.skipIf(reason !== undefined)(`a delegated cgroup${reason ? ` (${reason})` : ''}`, () => {
  const directory = join(ROOT ?? '', `assay-test-${process.pid}`);
  const home = ((): string => {
    const line = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
    return join(ROOT ?? '', line);
  })();
  const enter = (path: string): void =>
    writeFileSync(join(path, 'cgroup.procs'), String(process.pid));
  const whereAmI = (): string => readFileSync('/proc/self/cgroup', 'utf8');

  beforeEach(() => {
    mkdirSync(directory);
    enter(directory);
  });
  afterEach(() => {
    enter(home);
    for (const path of [join(directory, LEAF_NAME), directory])
      if (existsSync(path)) rmdirSync(path);
  });

  it('is left by the processes of this run, which come back at the end', () => {
    expect(listStrangers(directory)).toEqual([]);
    claimCgroup(directory, []);
    expect(whereAmI()).toContain(`assay-test-${process.pid}/${LEAF_NAME}\n`);
    expect(readFileSync(join(directory, 'cgroup.procs'), 'utf8')).toBe('');
    releaseCgroup(directory, []);
    expect(whereAmI()).toContain(`assay-test-${process.pid}\n`);
    expect(existsSync(join(directory, LEAF_NAME))).toBe(false);
  });

  it('is claimed twice and given back once by whoever is last', () => {
    claimCgroup(directory, []);
    claimCgroup(directory, []);
    releaseCgroup(directory, []);
    releaseCgroup(directory, []);
    expect(whereAmI()).toContain(`assay-test-${process.pid}\n`);
  });

  it('stays as it is where processes of others are in it', () => {
    // Its parent ends at once, so that it belongs to nobody of this run.
    const { stdout } = spawnSync('/bin/sh', ['-c', 'sleep 1000 >/dev/null 2>&1 & echo $!'], {
      encoding: 'utf8',
    });
    const stranger = Number(stdout);
    try {
      expect(listStrangers(directory)).toEqual([String(stranger)]);
      expect(() => claimCgroup(directory, [])).toThrow(/processes of others/);
      expect(whereAmI()).toContain(`assay-test-${process.pid}\n`);
      expect(existsSync(join(directory, LEAF_NAME))).toBe(false);
    } finally {
      writeFileSync(join(home, 'cgroup.procs'), String(stranger));
      process.kill(stranger, 'SIGKILL');
    }
  });
});
