import { chmodSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { findObstacle } from './availability.ts';
import { Clock } from './clock.ts';
import { Copy } from './copy.ts';
import { runBare, runInside } from './run.ts';
import { compareTrees, scanTree } from './scan.ts';
import { listStarts, runTraced } from './strace.ts';
import { writeTree } from './workload.ts';
import { NAMED } from './workloads/index.ts';

const FILES = { 'work.sh': 'true\n', 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' };

function makeShellWorkload(script: string) {
  return {
    command: ['/bin/sh', 'work.sh'],
    prepare: (dir: string) => writeTree(dir, { ...FILES, 'work.sh': script }),
  };
}

describe('scanTree()', () => {
  it('tells what was created, removed, changed, written again and given other permissions', () => {
    using copy = new Copy({ workload: makeShellWorkload('') });
    const before = scanTree(copy.work);
    writeTree(copy.work, { 'a.txt': 'other\n', 'new/inner.txt': '' });
    rmSync(join(copy.work, 'b.txt'));
    chmodSync(join(copy.work, 'c.txt'), 0o600);
    const script = join(copy.work, 'work.sh');
    writeFileSync(script, readFileSync(script));
    utimesSync(script, 1, 1);
    expect(compareTrees(before, scanTree(copy.work))).toEqual({
      created: ['new/', 'new/inner.txt'],
      removed: ['b.txt'],
      modified: ['a.txt'],
      rewritten: ['work.sh'],
      attributes: ['c.txt'],
    });
  });
});

describe('listStarts()', () => {
  it('finds relative programs by the directory that a process has from its parent', () => {
    const log = [
      '10 execve("/bin/sh", ["sh"], 0x7 /* 5 vars */) = 0',
      '10 chdir("sub")                            = 0',
      '10 vfork( <unfinished ...>',
      '11 execve("./a", ["a"], 0x7 /* 5 vars */ <unfinished ...>',
      '10 <... vfork resumed>)                   = 11',
      '11 <... execve resumed>)                  = 0',
      '11 execve("/bin/absent", ["x"], 0x7 /* 5 vars */) = -1 ENOENT (No such file or directory)',
      '11 fchdir(3</else where>)                  = 0',
      String.raw`11 execve("b\"\303\244", ["b"], 0x7 /* 5 vars */) = 0`,
      '10 clone(child_stack=NULL, flags=SIGCHLD) = 12',
      '12 execveat(5</opt>, "c", ["c"], NULL, 0) = 0',
      '12 execve("/proc/self/exe", ["c"], 0x7 /* 5 vars */) = 0',
    ].join('\n');
    const starts = ['/bin/sh', '/work/sub/a', '/else where/b"ä', '/opt/c', '/opt/c'];
    expect(listStarts(log, '/work')).toEqual(starts);
  });
});

describe('runTraced()', () => {
  it('names the images and their scripts', async (context) => {
    const workload = makeShellWorkload('cd / && $OLDPWD/a.txt\n');
    const script = '#!/usr/bin/env sh\n/bin/true\n';
    using copy = new Copy({ workload });
    const obstacle = findObstacle({ name: '', tools: ['strace'], ...workload });
    if (obstacle !== undefined) context.skip(obstacle);
    rmSync(join(copy.work, 'a.txt'));
    writeTree(copy.work, { 'a.txt': script });
    const { programs, vanished } = await runTraced({ copy, workload });
    expect(vanished).toEqual([]);
    expect(programs).toEqual([
      { image: realpathSync('/bin/sh') },
      { image: realpathSync('/usr/bin/env'), script: join(copy.work, 'a.txt') },
      { image: realpathSync('/bin/sh') },
      { image: realpathSync('/bin/true') },
    ]);
  });
});

describe('Clock', () => {
  it('moves the calendar inside and outside, and leaves the rest alone', async () => {
    const program = 'console.log(Date.now(), process.env.LD_PRELOAD)';
    const workload = makeShellWorkload(`date +%s; node -e '${program}'; sleep 0.1\n`);
    using copy = new Copy({ workload });
    const clock = new Clock(copy.work, 100);
    const flags = ['--preset', 'coding-agent'];
    for (const outcome of [
      await runBare({ copy, workload, clock }),
      await runInside({ copy, workload, clock }, flags),
    ]) {
      const [seconds, milliseconds] = outcome.stdout.split(/\s/).map(Number);
      const days = (Number(seconds) - Date.now() / 1000) / 86_400;
      expect(days, outcome.stderr).toBeCloseTo(100, 2);
      expect(Number(milliseconds) / 1000).toBeCloseTo(Number(seconds), -1);
    }
  });
});

describe('A workload', () => {
  it.for(NAMED)('starts from the same files each time: %s', ([, workload], context) => {
    const obstacle = findObstacle(workload);
    if (obstacle !== undefined) context.skip(obstacle);
    using first = new Copy({ workload });
    using second = new Copy({ workload });
    const [before, after] = [first, second].map(({ work }) => scanTree(work));
    if (before === undefined || after === undefined) throw new Error('There is no tree');
    const { rewritten, ...changes } = compareTrees(before, after);
    expect(changes).toEqual({ created: [], removed: [], modified: [], attributes: [] });
    // Otherwise one tree has been compared with itself.
    expect(rewritten.length).toBeGreaterThan(0);
  });
});
