import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { PYTHON, runForSummary } from './run-assay.ts';

const FORKS = `import os, time
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            time.sleep(30); os._exit(0)
        made += 1
except OSError as error:
    print('refused', error.errno, flush=True)
print('made', made, flush=True)
time.sleep(1.5)`;

const MEMORY = `import sys
kept = []
try:
    for n in range(64):
        kept.append(bytearray(8 << 20))
        for at in range(0, 8 << 20, 4096): kept[-1][at] = 1
except MemoryError:
    print('refused'); sys.exit(3)
import time; time.sleep(1)
print('got it all')`;

const PARENT_AND_CHILDREN_MEMORY = `import subprocess, sys, time
code = 'import time; x = bytearray(24 << 20)\\nfor at in range(0, len(x), 4096): x[at] = 1\\ntime.sleep(8)'
children = [subprocess.Popen([sys.executable, '-c', code]) for _ in range(6)]
print([c.wait() for c in children] == [0] * 6)`;

const DISK = `import sys
try:
    for n in range(40):
        with open(sys.argv[1] + '/f%d' % n, 'wb') as file: file.write(b'x' * (1 << 20))
except OSError as error:
    print('refused', error.errno); sys.exit(3)
print('wrote it all')`;

describeForEachPerson('limits', (person) => {
  const makePlace = usePlaces(person);
  const coding = ['--preset', 'coding-agent'];

  async function measure(flags: readonly string[], command: readonly string[]) {
    const { outcome, summary } = await runForSummary({
      place: makePlace(),
      flags: [...coding, ...flags],
      command,
    });
    const [report] = summary.limits.filter(({ limit }) => flags[0]?.includes(limit));
    return { ...outcome, limit: summary.limit, strength: report?.strength, report, summary };
  }

  it.each([
    [[]],
    [['--layers=-user']],
    [['--layers=-pid']],
    [['--layers=-cgroup']],
    [['--layers=-user,-cgroup']],
  ])('on processes hold, and say whether they are hard or soft: %j', async (layers) => {
    const { stdout, code, strength, limit } = await measure(
      ['--limit-pids', '30', ...layers],
      [PYTHON, '-c', FORKS],
    );
    if (strength === 'hard') {
      const made = Number(/made (\d+)/.exec(stdout)?.[1]);
      expect(stdout).toContain('refused 11');
      expect(made).toBeGreaterThan(10);
      expect(made).toBeLessThan(40);
    } else {
      expect({ strength, code, limit }).toEqual({ strength: 'soft', code: 137, limit: 'pids' });
    }
  });

  it.each([[[]], [['--layers=-cgroup']], [['--layers=-user']]])(
    'on memory hold: %j',
    async (layers) => {
      const { stdout, code, strength } = await measure(
        ['--limit-memory', '96M', ...layers],
        [PYTHON, '-c', MEMORY],
      );
      expect(['hard', 'soft']).toContain(strength);
      expect(stdout).not.toContain('got it all');
      expect([3, 137]).toContain(code);
    },
  );

  it.each([[[]], [['--layers=-cgroup']]])(
    'on memory hold for the whole tree: %j',
    async (layers) => {
      const { stdout, code } = await measure(
        ['--limit-memory', '100M', ...layers],
        [PYTHON, '-c', PARENT_AND_CHILDREN_MEMORY],
      );
      expect(code === 137 || stdout === 'False\n').toBe(true);
    },
  );

  it.each([[[]], [['--layers=-user']]])(
    'on processor time hold for the whole tree: %j',
    async (layers) => {
      const { code, limit, strength } = await measure(
        ['--limit-cpu', '2s', ...layers],
        ['/bin/sh', '-c', 'for i in 1 2 3; do (while :; do :; done) & done; wait'],
      );
      expect({ code, limit, strength }).toEqual({ code: 137, limit: 'cpu', strength: 'soft' });
    },
  );

  it('on processor time count children that have ended', async () => {
    const script = 'while :; do timeout 0.3 sh -c "while :; do :; done"; done';
    const { code, limit } = await measure(['--limit-cpu', '1s'], ['/bin/sh', '-c', script]);
    expect({ code, limit }).toEqual({ code: 137, limit: 'cpu' });
  });

  it.each([
    ['.', []],
    ['/tmp', []],
    ['/tmp', ['--layers=-mount']],
  ])('on disk hold for what is written to %s, %j', async (where, layers) => {
    const { stdout, code, strength } = await measure(
      ['--limit-disk', '8M', ...layers],
      [
        PYTHON,
        '-c',
        `${DISK}\nimport os, time\nos.sync(); time.sleep(1); print('survived')`,
        where,
      ],
    );
    expect(['hard', 'soft']).toContain(strength);
    expect(stdout).not.toContain('survived');
    expect([3, 137, 153]).toContain(code);
  });

  it('on disk hold for one file', async () => {
    const { code, stdout } = await measure(
      ['--limit-disk', '1M'],
      ['/bin/sh', '-c', 'head -c 3000000 /dev/zero > big; echo $?; stat -c %s big'],
    );
    expect(code).toBe(0);
    expect(stdout).toBe('153\n1048576\n');
  });

  it('on the number of files hold', async () => {
    const script =
      'for i in 1 2 3 4 5 6 7 8; do touch f$i && echo made; done; mkdir d || echo no-dir; ln -s x l || echo no-link';
    const { stdout, strength } = await measure(['--limit-files', '5'], ['/bin/sh', '-c', script]);
    expect(stdout.match(/made/g)).toHaveLength(5);
    expect(stdout).toContain('no-dir');
    expect(stdout).toContain('no-link');
    expect(strength).toBe('hard');
  });

  it('that nothing can keep are said to be absent, and refused with --fail-closed', async () => {
    const { strength, summary } = await measure(
      ['--limit-files', '5', '--layers=-broker'],
      ['true'],
    );
    expect(strength).toBe('absent');
    expect(summary.degradations.map(({ rule }) => rule).join()).toContain('files');
  });

  it('are in the banner with their strength', async () => {
    const { outcome, summary } = await runForSummary({
      place: makePlace(),
      flags: [
        '--limit-cpu',
        '9s',
        '--limit-memory',
        '500M',
        '--limit-pids',
        '90',
        '--limit-disk',
        '90M',
        '--limit-files',
        '900',
        '--timeout',
        '30s',
      ],
      command: ['true'],
    });
    expect(outcome.code).toBe(0);
    expect(summary.limits.map(({ limit }) => limit).toSorted()).toEqual([
      'cpu',
      'disk',
      'files',
      'memory',
      'pids',
      'timeout',
    ]);
    for (const { strength, how } of summary.limits) {
      expect(['hard', 'soft']).toContain(strength);
      expect(how).not.toBe('');
    }
  });

  it('on memory lets an engine start that reserves more than it uses', async () => {
    const { stdout, code } = await measure(
      ['--limit-memory', '192M', '--layers=-cgroup'],
      [process.execPath, '-e', 'console.log("started")'],
    );
    expect({ stdout, code }).toEqual({ stdout: 'started\n', code: 0 });
  });
});
