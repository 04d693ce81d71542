import * as fs from 'node:fs';

import { afterAll, describe, expect, it } from 'vitest';

import { createMicrovmBackend } from '../../src/backends/microvm/microvm-backend.ts';
import type { ExecOptions, Sandbox } from '../../src/backends/sandbox.ts';

const backend = createMicrovmBackend();
const report = await backend.probe();
const text = (data: Uint8Array): string => Buffer.from(data).toString();
const LONG_MS = 120_000;
const SLOW = { timeout: LONG_MS };
/** What QEMU has at most, for the queue of one disk, and what each of them maps. */
const DISK_THREADS = 64;
const COROUTINES = 256;
const COROUTINE_BYTES = 1 << 20;
const ARENA_BYTES = 64 << 20;
/** An interpreter that was started beforehand would not have seen it. */
const COLD = { env: { PYTHONNOUSERSITE: '1' } };

const PROGRAM = `import os, sys, traceback
print(open('/proc/self/cmdline').read())
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.executable)
print(sorted(name for name in globals()), __name__, __file__, __spec__, __doc__, type(__loader__).__name__)
print(os.getcwd(), sorted(name for name in os.environ if name != 'PYTHONNOUSERSITE'), sorted(sys.modules))
print(sys.stdin.read(), sys.stdout.isatty(), sys.stdout.line_buffering)
print(os.getpid() == os.getsid(0), os.listdir('/proc/self/fd')[:3])
def fail(): return 1 // 0
try: fail()
except ZeroDivisionError: print(traceback.format_exc())
fail()
`;

async function run(
  sandbox: Sandbox,
  code: string,
  options: ExecOptions = {},
): Promise<{ out: string; err: string; outcome: unknown }> {
  await sandbox.fs.writeFile('program.py', code);
  const argv = ['python3', 'program.py', 'an argument', 'ä'];
  const { stdout, stderr, outcome } = await sandbox.exec(argv, options);
  return { out: text(stdout), err: text(stderr), outcome };
}

/** QEMU itself, whose parents are the helper's. */
function findMachine(): number {
  const name = `assay-microvm:${process.pid}:`;
  const pids = fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const found = pids.find((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name);
    } catch {
      return false; // it has ended meanwhile
    }
  });
  return Number(found);
}

describe.skipIf(!report.isAvailable)('a guest of the backend microvm', () => {
  const open: Sandbox[] = [];
  const make = async (): Promise<Sandbox> => {
    const sandbox = await backend.create({ limits: { wallMs: LONG_MS } });
    open.push(sandbox);
    return sandbox;
  };
  afterAll(async () => {
    for (const sandbox of open) await sandbox[Symbol.asyncDispose]();
  });

  it('runs a program the same whether Python was waiting for it or not', SLOW, async () => {
    const options = { stdin: 'input' };
    const [warm, cold] = await Promise.all([make(), make()]);
    const seen = await run(warm, PROGRAM, options);
    const expected = await run(cold, PROGRAM, { ...options, ...COLD });
    expect(seen.out).toContain('/usr/lib/assay/warm.py');
    expect(expected.out).not.toContain('/usr/lib/assay/warm.py');
    const plain = (out: string): string =>
      out.slice(out.indexOf('\n')).replace(/no_user_site=\d/, '');
    expect(plain(seen.out)).toBe(plain(expected.out));
    expect(seen.err).toBe(expected.err);
    expect(seen.err).toContain('File "/workspace/program.py", line 11, in <module>');
    expect(seen.outcome).toEqual({ kind: 'exited', exitCode: 1 });
  });

  it(
    'draws its own random numbers and knows the time, though all start from one snapshot',
    SLOW,
    async () => {
      const python = `import os, random, secrets, ssl, time, uuid
print(os.urandom(16).hex(), random.random(), secrets.token_hex(8), ssl.RAND_bytes(8).hex(), uuid.uuid4())
print('time', time.time())`;
      const node = `const crypto = require('node:crypto');
console.log(Math.random(), crypto.randomBytes(8).toString('hex'), crypto.randomUUID());`;
      const draw = async (): Promise<string[]> => {
        const sandbox = await make();
        const { out } = await run(sandbox, python);
        expect(Math.abs(Number(/time (.*)/.exec(out)?.[1]) * 1000 - Date.now())).toBeLessThan(
          20_000,
        );
        await sandbox.fs.writeFile('program.cjs', node);
        const { stdout } = await sandbox.exec(['node', 'program.cjs']);
        return `${out.split('\n')[0]} ${text(stdout)}`.trim().split(/\s+/);
      };
      const first = await draw();
      const second = await draw();
      expect(first).toHaveLength(8);
      expect(first.filter((value) => second.includes(value))).toEqual([]);
    },
  );

  it('outlives a program that reads everything at once', SLOW, async () => {
    const python = `import os, threading
files = [os.path.join(d, name) for d, _, names in os.walk('/usr') for name in names]
files = [path for path in files if os.path.isfile(path)]
def read(some):
    for path in some:
        fd = os.open(path, os.O_RDONLY)
        for offset in range(0, os.fstat(fd).st_size, 1 << 20):
            os.posix_fadvise(fd, offset, 1 << 20, os.POSIX_FADV_WILLNEED)
        os.close(fd)
threads = [threading.Thread(target=read, args=(files[i::48],)) for i in range(48)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print('read', len(files) > 1000)`;
    const { out, err } = await run(await make(), python);
    expect(err).toBe('');
    expect(out).toBe('read True\n');
  });

  it('has room for every thread that may read its disk', SLOW, async () => {
    await make();
    const pid = findMachine();
    const read = (name: string): string => fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
    const number = (name: string, field: RegExp): number => Number(field.exec(read(name))?.[1]);
    const mapped = number('status', /^VmPeak:\s+(\d+) kB/m) * 1024;
    const room = number('limits', /^Max address space\s+(\d+)/m) - mapped;
    const stack = number('limits', /^Max stack size\s+(\d+)/m);
    // Nobody waits for so many: a fast disk is read by a few of them.
    const arena = read('environ').includes('MALLOC_ARENA_MAX=1') ? 0 : ARENA_BYTES;
    expect(room).toBeGreaterThan(DISK_THREADS * (stack + arena) + COROUTINES * COROUTINE_BYTES);
  });

  it('is emulated by a process that has no rights left', SLOW, async () => {
    await make();
    const pid = findMachine();
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): string =>
      new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
    expect(field('NoNewPrivs')).toBe('1');
    expect(field('Seccomp')).toBe('2');
    expect(field('CapEff')).toMatch(/^0+$/);
    expect(field('CapBnd')).toMatch(/^0+$/);
    expect(Number(field('Uid').split(/\s+/)[0])).not.toBe(0);
    const own = (name: string): string => fs.readlinkSync(`/proc/self/ns/${name}`);
    if (process.getuid?.() === 0)
      for (const name of ['net', 'mnt', 'pid', 'ipc', 'user'])
        expect(fs.readlinkSync(`/proc/${pid}/ns/${name}`)).not.toBe(own(name));
    expect(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toMatch(/-mon\b|-netdev|-nic/);
  });
});
