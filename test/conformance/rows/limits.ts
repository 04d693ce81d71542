import { expect } from 'vitest';

import { all, isBitten, isContained, numberIn, within } from '../expectations.ts';
import { TRYING } from '../python.ts';
import type { Row, Seen } from '../row.ts';

const MIB = 1024 * 1024;
const alone = { group: 'limits', isAlone: true } as const;

/** Writes until it may no more, into as many files as it takes. */
function filling(directory: string): string {
  return `import os
written = 0
try:
    for index in range(64):
        with open('${directory}/big%d' % index, 'wb', buffering=0) as file:
            for _ in range(16):
                written += file.write(b'x' * 65536)
except OSError as problem:
    print('refused', problem.errno, flush=True)
print('written=%d' % written)
`;
}

function making(directory: string): string {
  return `import os
made = 0
try:
    for index in range(3000):
        os.close(os.open('${directory}/file%d' % index, os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as problem:
    print('refused', problem.errno, flush=True)
print('made=%d' % made)
`;
}

/** Held, whether the program was refused more or ended for it. */
function isHeldAt(name: string, most: number): (seen: Seen) => void {
  return (seen) => {
    if (seen.result.outcome.kind === 'exited') within(name, 1, most)(seen);
    isContained(seen);
  };
}

const MEMORY = `blocks = []
for index in range(48):
    blocks.append(bytearray(b'x') * (8 * 1024 * 1024))
print('ESCAPED', len(blocks))
`;

export const LIMIT_ROWS: Row[] = [
  {
    ...alone,
    name: 'memory: a program that takes more is ended, and the limit is named',
    language: 'python',
    needs: ['limit:memoryBytes'],
    spec: { limits: { memoryBytes: 128 * MIB, wallMs: 60_000 } },
    code: MEMORY,
    seconds: 60,
    check: isBitten('memoryBytes'),
  },
  {
    ...alone,
    name: 'memory: several processes are counted together',
    language: 'python',
    needs: ['processes', 'limit:memoryBytes'],
    spec: { limits: { memoryBytes: 128 * MIB, wallMs: 60_000 } },
    code: `import os, time
for index in range(6):
    if os.fork() == 0:
        block = bytearray(b'x') * (40 * 1024 * 1024)
        time.sleep(3)
        os._exit(0)
alive = 0
for index in range(6):
    alive += os.wait()[1] == 0
if alive == 6: print('ESCAPED', alive)
`,
    seconds: 60,
    check: isBitten('memoryBytes'),
  },
  {
    ...alone,
    name: 'memory: a program that stays below is left alone',
    language: 'python',
    needs: ['limit:memoryBytes'],
    spec: { limits: { memoryBytes: 256 * MIB } },
    code: `block = bytearray(b'x') * (64 * 1024 * 1024)
print(len(block))
`,
    check: ({ out, result }) => {
      expect(out).toBe('67108864\n');
      expect(result.reached).toEqual([]);
    },
  },
  {
    ...alone,
    name: 'cpu: the time of all processes together ends them',
    language: 'python',
    needs: ['processes', 'limit:cpuMs'],
    spec: { limits: { cpuMs: 1500, wallMs: 60_000 } },
    code: `import os
for index in range(3): os.fork()
while True: pass
`,
    seconds: 60,
    check: (seen) => {
      expect(seen.result.outcome).toEqual({ kind: 'limit', limit: 'cpuMs', value: 1500 });
      expect(seen.result.durationMs).toBeLessThan(30_000 * seen.kit.slowness);
    },
  },
  {
    ...alone,
    name: 'cpus: a program gets no more than its share',
    language: 'python',
    needs: ['limit:cpus'],
    spec: { limits: { cpus: 0.25, wallMs: 60_000 } },
    code: `import time
started, used = time.time(), time.process_time()
while time.time() - started < 3: pass
print('share=%.3f' % ((time.process_time() - used) / (time.time() - started)))
`,
    check: within('share', 0, 0.4),
  },
  {
    ...alone,
    name: 'pids: no more processes than said, and the limit is named',
    language: 'python',
    needs: ['processes', 'limit:pids'],
    spec: { limits: { pids: 20 } },
    code: `import os, time
made = 0
for index in range(60):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    except OSError as problem:
        print('refused', problem.errno, flush=True)
        break
    made += 1
print('made=%d' % made, flush=True)
os._exit(0)
`,
    check: all(isHeldAt('made', 20), isBitten('pids')),
  },
  {
    ...alone,
    name: 'pids: threads are counted, too',
    language: 'python',
    needs: ['threads', 'limit:pids'],
    spec: { limits: { pids: 20 } },
    code: `import threading, time, os
made = 0
for index in range(60):
    try:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    except RuntimeError:
        break
    made += 1
print('made=%d' % made, flush=True)
os._exit(0)
`,
    check: isHeldAt('made', 20),
  },
  ...['/workspace', '/tmp'].map((directory): Row => ({
    ...alone,
    name: `disk: no more bytes than said in ${directory}, and the limit is named`,
    language: 'python',
    needs: ['files', 'limit:diskBytes'],
    spec: { limits: { diskBytes: 8 * MIB } },
    code: filling(directory),
    check: all(isHeldAt('written', 9 * MIB), isBitten('diskBytes')),
  })),
  {
    ...alone,
    name: 'disk: a workspace of the host that is written to is limited, too',
    language: 'python',
    needs: ['files', 'rw', 'limit:diskBytes'],
    spec: ({ makeWorkspace }) => ({
      workspace: { host: makeWorkspace(), mode: 'rw' },
      limits: { diskBytes: 8 * MIB },
    }),
    code: `${filling('/workspace')}
import time; time.sleep(3)
`,
    check: isBitten('diskBytes'),
  },
  ...['/workspace', '/tmp'].map((directory): Row => ({
    ...alone,
    name: `inodes: no more files than said in ${directory}, and the limit is named`,
    language: 'python',
    needs: ['files', 'limit:inodes'],
    spec: { limits: { inodes: 500 } },
    code: making(directory),
    check: all(isHeldAt('made', 510), isBitten('inodes')),
  })),
  {
    ...alone,
    name: 'open files: no more than said in one process',
    language: 'python',
    needs: ['files', 'limit:openFiles'],
    spec: { limits: { openFiles: 64 } },
    code: `${TRYING}
made = []
try:
    while len(made) < 1000: made.append(os.open('/workspace/row.py', os.O_RDONLY))
except OSError as problem:
    assert problem.errno == errno.EMFILE, problem
print('made=%d' % len(made))
`,
    check: within('made', 8, 64),
  },
  {
    ...alone,
    name: 'output: what is over is dropped and counted, and the program goes on',
    language: 'python',
    spec: { limits: { outputBytes: 65_536 } },
    code: `import sys
for index in range(300):
    sys.stdout.write('o' * 4096)
    sys.stderr.write('e' * 1024)
`,
    check: ({ result }) => {
      expect(result.outcome).toEqual({ kind: 'exited', exitCode: 0 });
      expect([result.stdout.length, result.stderr.length]).toEqual([65_536, 65_536]);
      expect(result.truncated).toEqual({
        stdout: 300 * 4096 - 65_536,
        stderr: 300 * 1024 - 65_536,
      });
      expect(result.reached).toContain('outputBytes');
    },
  },
  {
    ...alone,
    name: 'output: a flood costs this process no memory',
    language: 'python',
    spec: { limits: { outputBytes: 65_536, wallMs: 3000 } },
    code: `import os
block = b'flood' * 13107
while True: os.write(1, block)
`,
    check: (seen) => {
      expect(seen.result.outcome.kind).toBe('timeout');
      expect(seen.result.stdout.length).toBe(65_536);
      expect(seen.result.truncated.stdout).toBeGreaterThan(1_000_000);
      expect(process.memoryUsage().rss).toBeLessThan(1024 * MIB);
    },
  },
  {
    ...alone,
    name: 'usage: says how much time and memory it took',
    language: 'python',
    code: `block = bytearray(b'x') * (30 * 1024 * 1024)
import time
start = time.process_time() # an interpreter that was kept ready has used some before
while time.process_time() - start < 0.4: pass
print('done=1')
`,
    check: (seen) => {
      expect(numberIn(seen, 'done')).toBe(1);
      const { cpuMs, maxMemoryBytes } = seen.result.usage;
      // What a backend does not know it leaves out; what it says is right.
      if (cpuMs !== undefined) expect(cpuMs).toBeGreaterThanOrEqual(350);
      if (maxMemoryBytes !== undefined) expect(maxMemoryBytes).toBeGreaterThan(30 * MIB);
      expect(seen.result.durationMs).toBeGreaterThan(350);
    },
  },
];
