import { createHash } from 'node:crypto';

import { expect } from 'vitest';

import type { Row } from '../row.ts';

const MIB = 1024 * 1024;
const EXIT_CODES = [0, 1, 2, 3, 42, 64, 77, 100, 125, 126, 127, 128, 130, 137, 143, 200, 254, 255];
const SIGNALS = [
  'SIGTERM',
  'SIGKILL',
  'SIGSEGV',
  'SIGABRT',
  'SIGINT',
  'SIGUSR1',
  'SIGPIPE',
] as const;

/** Those that start from what `npm run engines` makes. */
const HAS_OWN_IMAGE: readonly string[] = ['docker', 'gvisor', 'microvm'];

const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

export const STREAM_ROWS: Row[] = [
  {
    group: 'streams',
    name: 'hands back exit codes from 0 to 255',
    needs: ['python'],
    seconds: 60,
    async act(kit) {
      const sandbox = await kit.open();
      const seen = [];
      for (const code of EXIT_CODES) {
        const { outcome, exitCode, isOk } = await kit.run(sandbox, {
          language: 'python',
          code: `import sys; sys.exit(${code})`,
        });
        expect(outcome).toEqual({ kind: 'exited', exitCode: code });
        expect(isOk).toBe(code === 0);
        seen.push(exitCode);
      }
      expect(seen).toEqual(EXIT_CODES);
    },
  },
  {
    group: 'streams',
    name: 'says by which signal a program ended',
    needs: ['python', 'signals'],
    seconds: 60,
    async act(kit) {
      const sandbox = await kit.open();
      for (const name of SIGNALS) {
        const code = `import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGINT, signal.SIG_DFL)
os.kill(os.getpid(), signal.${name})
signal.pause()`;
        const { outcome } = await kit.run(sandbox, { language: 'python', code });
        expect(outcome).toEqual({ kind: 'signaled', signal: name });
      }
    },
  },
  {
    group: 'streams',
    name: 'keeps stdout and stderr apart, and every byte of them',
    language: 'python',
    code: `import os
os.write(1, bytes(range(256)) * 4)
os.write(2, bytes(reversed(range(256))))
os.write(1, b'\\n\\n  ')
`,
    check: ({ result }) => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      const four = Buffer.concat([bytes, bytes, bytes, bytes, Buffer.from('\n\n  ')]);
      expect(Buffer.from(result.stdout)).toEqual(four);
      expect(Buffer.from(result.stderr)).toEqual(Buffer.from(bytes.toReversed()));
      expect(result.truncated).toEqual({ stdout: 0, stderr: 0 });
    },
  },
  {
    group: 'streams',
    name: 'hands on stdin byte for byte, to its end',
    needs: ['python'],
    async act(kit) {
      const sandbox = await kit.open();
      const stdin = Buffer.alloc(
        300_000,
        Buffer.from(Array.from({ length: 251 }, (_, index) => index)),
      );
      const code = `import hashlib, sys
data = sys.stdin.buffer.read()
print(len(data), hashlib.sha256(data).hexdigest())`;
      const { stdout } = await kit.run(sandbox, { language: 'python', code }, { stdin });
      expect(Buffer.from(stdout).toString()).toBe(`${stdin.length} ${sha256(stdin)}\n`);
    },
  },
  {
    group: 'streams',
    name: 'has an empty stdin when none is given',
    language: 'python',
    code: 'import sys; print(repr(sys.stdin.read()))',
    check: ({ out }) => expect(out).toBe("''\n"),
  },
  {
    group: 'streams',
    name: 'is not stuck when a program does not read its stdin',
    needs: ['python'],
    async act(kit) {
      const sandbox = await kit.open();
      const options = { stdin: Buffer.alloc(4 * MIB, 'x') };
      const { outcome } = await kit.run(sandbox, { language: 'python', code: 'print(1)' }, options);
      expect(outcome).toEqual({ kind: 'exited', exitCode: 0 });
    },
  },
  {
    group: 'streams',
    name: 'hands back 10 MB',
    language: 'python',
    isAlone: true,
    spec: { limits: { outputBytes: 16 * MIB } },
    seconds: 60,
    code: `import hashlib, os, sys
block = bytes((index * 7 + 3) % 256 for index in range(65536))
digest = hashlib.sha256()
for index in range(160):
    sys.stdout.buffer.write(block)
    digest.update(block)
sys.stdout.buffer.flush()
sys.stderr.write(digest.hexdigest())
`,
    check: ({ result, err }) => {
      expect(result.stdout.length).toBe(160 * 65_536);
      expect(sha256(result.stdout)).toBe(err);
    },
  },
  {
    group: 'streams',
    name: 'hands out output while the program runs',
    needs: ['python'],
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox.fs.writeFile(
        'row.py',
        `import time
print('first', flush=True)
time.sleep(1)
print('second', flush=True)`,
      );
      const process = await sandbox.spawn(kit.argvFor('python', 'row.py'));
      const pieces: { text: string; at: number }[] = [];
      let end;
      for await (const event of process) {
        if (event.type === 'stdout')
          pieces.push({ text: Buffer.from(event.data).toString(), at: performance.now() });
        if (event.type === 'end') end = event.result;
      }
      expect(pieces.map(({ text }) => text).join('')).toBe('first\nsecond\n');
      expect((pieces.at(-1)?.at ?? 0) - (pieces[0]?.at ?? 0)).toBeGreaterThan(500);
      expect(end?.outcome).toEqual({ kind: 'exited', exitCode: 0 });
      expect((await process.wait()).outcome).toEqual({ kind: 'exited', exitCode: 0 });
    },
  },
  {
    group: 'streams',
    name: 'talks with a program by its stdin',
    needs: ['python', 'processes'],
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox.fs.writeFile(
        'row.py',
        `import sys
for line in sys.stdin:
    print('heard ' + line.strip(), flush=True)
print('end', flush=True)`,
      );
      const process = await sandbox.spawn(kit.argvFor('python', 'row.py'));
      await process.write('one\n');
      let heard = '';
      for await (const event of process) {
        if (event.type !== 'stdout') continue;
        heard += Buffer.from(event.data).toString();
        if (heard === 'heard one\n') {
          await process.write(Buffer.from('two\n'));
          await process.closeStdin();
        }
      }
      expect(heard).toBe('heard one\nheard two\nend\n');
      expect((await process.wait()).isOk).toBe(true);
    },
  },
  {
    group: 'streams',
    name: 'sends a signal to a program',
    needs: ['python', 'signals', 'processes'],
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox.fs.writeFile(
        'row.py',
        // Not print(): a signal that comes while that is at work cannot print itself.
        // Nor pause(): one that comes just before it is never noticed.
        `import os, signal, sys, time
def stop(*_):
    os.write(1, b'caught\\n')
    sys.exit(7)
signal.signal(signal.SIGUSR1, stop)
os.write(1, b'ready\\n')
while True: time.sleep(0.05)`,
      );
      const process = await sandbox.spawn(kit.argvFor('python', 'row.py'));
      let out = '';
      for await (const event of process) {
        if (event.type !== 'stdout') continue;
        out += Buffer.from(event.data).toString();
        if (out === 'ready\n') await process.signal('SIGUSR1');
      }
      expect(out).toBe('ready\ncaught\n');
      expect((await process.wait()).outcome).toEqual({ kind: 'exited', exitCode: 7 });
    },
  },
  {
    group: 'streams',
    name: 'runs JavaScript',
    language: 'javascript',
    code: `const numbers = [1, 2, 3].map((value) => value * 2); console.log(JSON.stringify(numbers));`,
    check: ({ out }) => expect(out).toBe('[2,4,6]\n'),
  },
  {
    group: 'streams',
    name: 'runs bash',
    language: 'bash',
    code: `set -euo pipefail; printf '%s\\n' "$((6 * 7))" | tr 4 5; exit 3`,
    check: ({ out, result }) => {
      expect(out).toBe('52\n');
      expect(result.outcome).toEqual({ kind: 'exited', exitCode: 3 });
    },
  },
  {
    group: 'streams',
    name: 'runs the python whose version it says',
    language: 'python',
    code: `import platform; print(platform.python_version())`,
    check: ({ out, kit }) => {
      // The host's python is not run to be asked: its name has the first two numbers.
      const said = kit.report.languages.python?.version ?? 'no version';
      expect(kit.id === 'local' ? out.split('.').slice(0, 2).join('.') : out.trim()).toBe(said);
      const [major, minor = 0] = out.split('.').map(Number);
      expect(major).toBe(3);
      if (HAS_OWN_IMAGE.includes(kit.id)) expect(minor).toBeGreaterThanOrEqual(14);
    },
  },
  {
    group: 'streams',
    name: 'runs the javascript whose version it says',
    language: 'javascript',
    code: `console.log(process.versions.node, process.release.lts ?? 'not LTS');`,
    check: ({ out, kit }) => {
      const [version, lts] = out.trim().split(/ (.*)/);
      expect(version).toBe(kit.report.languages.javascript?.version);
      if (!HAS_OWN_IMAGE.includes(kit.id)) return;
      expect(lts).not.toBe('not LTS');
      expect(Number.parseInt(version ?? '', 10)).toBeGreaterThanOrEqual(24);
    },
  },
  {
    group: 'streams',
    name: 'runs the bash whose version it says',
    language: 'bash',
    code: `echo "\${BASH_VERSION%%(*}"`,
    check: ({ out, kit }) => {
      const said = kit.report.languages.bash?.version;
      if (kit.id === 'local') expect(said).toBeUndefined();
      else expect(out).toBe(`${said}\n`);
    },
  },
  {
    group: 'streams',
    name: 'gives the environment and the directory that were asked for',
    needs: ['python', 'files'],
    async act(kit) {
      const sandbox = await kit.open({ env: { OWN: 'spec', BOTH: 'spec' } });
      await sandbox.fs.mkdir('below');
      const code = `import os
print(os.environ['OWN'], os.environ['BOTH'], os.environ.get('HOME'), os.getcwd(), bool(os.environ.get('PATH')))`;
      await sandbox.fs.writeFile('below/row.py', code);
      const options = { env: { BOTH: 'call é' }, cwd: 'below' };
      const { stdout } = await sandbox.exec(kit.argvFor('python', 'row.py'), options);
      const [own, ...rest] = Buffer.from(stdout).toString().trim().split(' ');
      expect([own, rest[0], rest[1]]).toEqual(['spec', 'call', 'é']);
      expect(rest.slice(3)).toEqual(['/workspace/below', 'True']);
    },
  },
  {
    group: 'streams',
    name: 'says that a program is not there, as a result',
    needs: ['processes'],
    async act(kit) {
      const sandbox = await kit.open();
      const { outcome, exitCode } = await sandbox.exec(['no-such-program']);
      expect(outcome.kind).toBe('refused');
      expect(exitCode).toBe(127);
    },
  },
];
