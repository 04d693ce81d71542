import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeForEachPerson, findPeople } from './as-user.ts';
import { ASSAY, runBare } from './run-assay.ts';
import { exec, execJson, type Result, withPlace } from './exec-run.ts';

interface Survey {
  readonly backends: readonly {
    readonly id: string;
    readonly isAvailable: boolean;
    readonly reasons: readonly string[];
    readonly languages?: readonly string[];
  }[];
}

const SURVEY = JSON.parse(
  spawnSync(ASSAY, ['backends', '--no-latency', '--json'], { encoding: 'utf8' }).stdout,
) as Survey;

/** The two that need no engine of their own. What others keep is shown by the conformance kit. */
const BACKENDS = ['local', 'wasm'].map((id) => {
  const found = SURVEY.backends.find((backend) => backend.id === id);
  return { id, isAvailable: found?.isAvailable ?? false, languages: found?.languages ?? [] };
});

const HELLO: Readonly<Record<string, string>> = {
  python: 'import sys\nprint("hello", sys.stdin.read())',
  javascript: 'console.log("hello", "in")',
  typescript: 'const word: string = "hello";\nconsole.log(word, "in" as string);',
  bash: 'echo hello $(cat)',
};

describe.each(BACKENDS)('assay exec with $id', ({ id, isAvailable, languages }) => {
  if (!isAvailable) {
    it.skip(`is not run: ${id} is not available`);
    return;
  }
  const backend = ['--backend', id];

  describeForEachPerson('code', (person) => {
    it.each(languages)(
      'runs %s',
      async (language) =>
        await withPlace(person, async (place) => {
          const input = place.write('work/in.txt', 'in');
          const flags = [...backend, '--lang', language, '--stdin', input];
          expect(await exec(place, flags, { code: HELLO[language] ?? '' })).toMatchObject({
            code: 0,
            stdout: 'hello in\n',
            stderr: '',
          });
        })(),
    );
  });

  const [self] = findPeople().filter(({ whyNot }) => whyNot === undefined);
  if (!self) return;
  const language = languages.includes('bash') ? 'bash' : 'python';
  const programs: Readonly<Record<string, string>> =
    language === 'bash'
      ? { exit: 'echo out; echo err >&2; exit 7', spin: 'echo early; while :; do :; done' }
      : {
          exit: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(7)',
          spin: 'console.log("early"); for (;;) ;',
        };
  // Of the two that run without an operating system, this one starts faster.
  const spin = [...backend, '--lang', language === 'bash' ? 'bash' : 'javascript'];
  const lang = [...backend, '--lang', language];

  it(
    'has the exit code and the streams of the program',
    withPlace(self, async (place) => {
      expect(await exec(place, lang, { code: programs['exit'] ?? '' })).toMatchObject({
        code: 7,
        stdout: 'out\n',
        stderr: 'err\n',
      });
    }),
  );

  it(
    'ends after the timeout with 124, and keeps what was printed',
    withPlace(self, async (place) => {
      const started = Date.now();
      const { code, stdout, stderr } = await exec(place, [...spin, '--timeout', '3s'], {
        code: programs['spin'] ?? '',
      });
      expect({ code, stdout }).toEqual({ code: 124, stdout: 'early\n' });
      expect(stderr).toContain('timeout');
      expect(Date.now() - started).toBeLessThan(20_000);
    }),
  );

  it(
    'takes code of a megabyte, which no argument holds',
    withPlace(self, async (place) => {
      const comment = '#'.repeat(1000);
      const code = `${`${comment}\n`.repeat(1000)}print(1)`;
      const script = language === 'bash' ? code.replace('print(1)', 'echo 1') : code;
      expect(await exec(place, lang, { code: script })).toMatchObject({ code: 0, stdout: '1\n' });
    }),
  );

  it(
    'hands files in and out, and tells what was changed',
    withPlace(self, async (place) => {
      if (!languages.includes('python')) return;
      place.write('work/in.csv', 'a,b\n1,2\n');
      const code = place.write(
        'work/main.py',
        `import os
rows = open('in.csv').read().splitlines()
os.makedirs('out/deep')
open('out/deep/count.txt', 'w').write(str(len(rows)))
os.symlink('/etc/passwd', 'link') if hasattr(os, 'symlink') and os.name == 'posix' else None
print(rows[1], sorted(n for n in os.listdir('.') if n.startswith('.')))`,
      );
      const flags = [
        ...backend,
        '--file',
        'in.csv',
        '--file',
        'in.csv:data/b.csv',
        '--out',
        'made',
      ];
      const outcome = await exec(place, [...flags, '--json', code]);
      const result = JSON.parse(outcome.stdout) as Result;
      expect(result).toMatchObject({ outcome: 'exited', exit_code: 0, stderr: '' });
      // The code itself is not among the files.
      expect(result.stdout).toBe('1,2 []\n');
      expect(result.files.map(({ path, change }) => `${change} ${path}`)).toContain(
        'added out/deep/count.txt',
      );
      expect(result.files.map(({ path }) => path)).not.toContain('in.csv');
      expect(place.read('work/made/out/deep/count.txt')).toBe('2');
      expect(place.has('work/made/link')).toBe(false);
      expect(place.has('work/made/in.csv')).toBe(false);
    }),
  );

  it(
    'imports modules that lie beside it',
    withPlace(self, async (place) => {
      if (!languages.includes('python')) return;
      place.write('work/helper.py', 'VALUE = 42\n');
      const flags = [...backend, '--lang', 'python', '--file', 'helper.py'];
      expect(
        await exec(place, flags, { code: 'import helper\nprint(helper.VALUE)' }),
      ).toMatchObject({ code: 0, stdout: '42\n' });
    }),
  );

  it(
    'gives bytes as they are',
    withPlace(self, async (place) => {
      if (!languages.includes('python')) return;
      const code = 'import sys\nsys.stdout.buffer.write(bytes(range(256)))';
      const file = place.write('work/main.py', code);
      const command = [ASSAY, 'exec', ...backend, file].join(' ');
      await runBare({ place, command: ['/bin/sh', '-c', `${command} > bytes`] });
      expect(Array.from(fs.readFileSync(place.at('work/bytes')))).toEqual(
        Array.from({ length: 256 }, (_, index) => index),
      );
      const result = await execJson(place, [...backend, '--lang', 'python'], { code });
      expect(Buffer.from(result.stdout_base64 ?? '', 'base64')).toHaveLength(256);
    }),
  );

  it(
    'starts clean every time',
    withPlace(self, async (place) => {
      if (!languages.includes('python')) return;
      const code = 'import os\nprint(os.listdir("."))\nopen("left", "w").write("x")';
      for (let run = 0; run < 2; run++)
        expect(await exec(place, [...backend, '--lang', 'python'], { code })).toMatchObject({
          stdout: '[]\n',
        });
    }),
  );

  it(
    'runs a batch in order, answers a bad line with its place, and fails with 1',
    withPlace(self, async (place) => {
      const print = (text: string): string =>
        language === 'bash' ? `echo ${text}` : `print("${text}")`;
      place.write('work/task.txt', print('from file'));
      const tasks = [
        { id: 'first', language, code: print('one') },
        { id: 'file', language, file: 'task.txt' },
        { language, code: programs['exit'] },
        { id: 'net', language, code: print('x'), net: ['example.org:443'] },
      ].map((task) => JSON.stringify(task));
      tasks.splice(1, 0, '{"id": "bad", "language": "bash"');
      const file = place.write('work/tasks.ndjson', tasks.join('\n'));
      const outcome = await exec(place, [...backend, '--batch', file, '--parallel', '2']);
      expect(outcome.code).toBe(1);
      expect(outcome.stderr).toMatch(/5 tasks done, 3 failed, 0 running/);
      const lines = outcome.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ id, line }) => [id, line])).toEqual([
        ['first', 1],
        ['2', 2],
        ['file', 3],
        ['4', 4],
        ['net', 5],
      ]);
      expect(lines[0]).toMatchObject({ stdout: 'one\n', exit_code: 0 });
      expect(lines[1]).toMatchObject({ error: { line: 2, column: 33 } });
      expect(lines[2]).toMatchObject({ stdout: 'from file\n' });
      expect(lines[3]).toMatchObject({ exit_code: 7 });
      expect(lines[4]).toMatchObject({ error: { hint: 'Say --net example.org:443' } });
    }),
  );

  it(
    'ends with Ctrl-C, and leaves nothing',
    withPlace(self, async (place) => {
      const outcome = await exec(place, spin, {
        code: programs['spin'] ?? '',
        onOutput: (text, child) => {
          if (text.includes('early')) child.kill('SIGINT');
        },
      });
      expect(outcome.code).toBe(130);
      expect(findChildren(outcome.pid)).toEqual([]);
    }),
  );

  it(
    'ends when nobody reads any more',
    withPlace(self, async (place) => {
      const loop =
        language === 'bash'
          ? 'while :; do echo line; done'
          : 'while True: print("line", flush=True)';
      const code = place.write('work/code', loop);
      const outcome = await runBare({
        place,
        command: [
          '/bin/bash',
          '-c',
          `"$0" exec ${lang.join(' ')} ${code} | head -1; echo \${PIPESTATUS[0]}`,
          ASSAY,
        ],
      });
      expect(outcome.stdout).toBe('line\n141\n');
    }),
  );

  it(
    'refuses what the backend does not have, and says what there is',
    withPlace(self, async (place) => {
      const outcome = await exec(place, [...lang, '--image', 'debian:12'], { code: '' });
      expect(outcome).toMatchObject({ code: 2, stdout: '' });
      expect(outcome.stderr).toContain('image: this backend has no images');
      expect(outcome.stderr).toContain('E_SANDBOX_UNENFORCEABLE');
    }),
  );
});

function findChildren(pid: number): string[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return (
          fs
            .readFileSync(join('/proc', name, 'stat'), 'utf8')
            .split(') ')[1]
            ?.split(' ')[1] === String(pid)
        );
      } catch {
        return false; // it has ended meanwhile
      }
    });
}
