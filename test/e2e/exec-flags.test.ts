import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findPeople } from './as-user.ts';
import { ASSAY, runBare } from './run-assay.ts';
import { exec, type Result, withPlace } from './exec-run.ts';

describe('assay exec', () => {
  const [self] = findPeople().filter(({ whyNot }) => whyNot === undefined);
  if (!self) return;

  it.each([
    [['--lang', 'ruby'], '--lang is one of python, javascript, typescript, bash'],
    [[], 'Which language is it?'],
    [['--lang', 'bash', '--timeout', 'soon'], '--timeout needs a duration'],
    [['--lang', 'bash', '--memory', '-1'], '--memory needs a size'],
    [['--lang', 'bash', '--memory', '1'], 'Cannot use 1 for --memory'],
    [['--lang', 'bash', '--pids', '9999999'], 'Cannot use 9999999 for --pids'],
    [['--lang', 'bash', '--timeout', '9999h'], 'Cannot use 9999h for --timeout'],
    [['--lang', 'bash', '--cpu', '25d'], 'Cannot use 25d for --cpu'],
    [['--lang', 'bash', '--memory', '0.5k'], 'Cannot use 0.5k for --memory'],
    [['--batch', '/dev/null', '--timeout', '9999h'], 'Cannot use 9999h for --timeout'],
    [
      ['--lang', 'javascript', '--backend', 'wasm', '--memory', '2M'],
      'in so little memory: --memory is too low\nhint: Give 4194304 bytes (4M) at least',
    ],
    [['--batch', '/dev/null', '--memory', '1'], 'Cannot use 1 for --memory'],
    [
      ['--lang', 'javascript', '--backend', 'wasm', '--cpus', '1'],
      '--cpus: this backend has no such limit here',
    ],
    [['--lang', 'bash', '--evidence', '/nonexistent/x'], 'Cannot write the evidence to'],
    [['--lang', 'bash', '--evidence', '/'], 'it is a directory'],
    [['--lang', 'bash', '--out', '/proc/nonexistent'], 'Nothing was executed. --out names'],
    [['--lang', 'bash', '--out', '/dev/null'], 'it is not a directory'],
    [['--lang', 'bash', '--env', 'X'], '--env needs NAME=VALUE'],
    [['--lang', 'bash', '--workspace', '/nonexistent'], '--workspace needs a directory'],
    [['--lang', 'bash', '--file', '/nonexistent'], 'Cannot read a file from'],
    [['--parallel', '2'], '--parallel goes with --batch'],
    [['--batch', 'x', '--lang', 'bash'], '--lang does not go with --batch'],
    [['--lang', 'bash', '--stdin', '-'], 'cannot be both'],
  ])(
    'refuses %j',
    async (flags, message) =>
      await withPlace(self, async (place) => {
        const outcome = await exec(place, flags, { code: 'echo ran' });
        expect(outcome).toMatchObject({ code: 2, stdout: '' });
        expect(outcome.stderr).toContain(message);
      })(),
  );

  it(
    'says before anything runs that a workspace does not fit, and by which flag it would',
    withPlace(self, async (place) => {
      place.write('data/big', Buffer.alloc(3_000_000));
      const flags = ['--lang', 'bash', '--workspace', place.at('data'), '--disk', '1M'];
      const outcome = await exec(place, flags, { code: 'echo ran' });
      expect(outcome).toMatchObject({ code: 2, stdout: '' });
      expect(outcome.stderr).toContain('Cannot write "big": there is no room left in the sandbox');
      expect(outcome.stderr).toContain('--disk');
    }),
  );

  it(
    'calls its limits by the names of its flags, and those of a task by its own',
    withPlace(self, async (place) => {
      const timeout = ['--lang', 'bash', '--timeout', '300ms'];
      const outcome = await exec(place, timeout, { code: 'sleep 60' });
      expect(outcome).toMatchObject({ code: 124 });
      expect(outcome.stderr).toContain('; a longer --timeout may be allowed');
      const cpu = ['--lang', 'bash', '--cpu', '300ms'];
      const { stderr } = await exec(place, cpu, { code: 'while :; do :; done' });
      expect(stderr).toContain('the limit --cpu was reached');
      const code = '{"language": "bash", "code": "", "memory_bytes": 1}';
      const { stdout } = await exec(place, ['-q', '--batch', '-'], { code });
      expect(stdout).toContain('"Cannot use 1 for memory_bytes"');
    }),
  );

  it(
    'reads code from what a shell puts in place of <(…)',
    withPlace(self, async (place) => {
      const script = `"${ASSAY}" exec --lang bash <(echo 'echo from a pipe')`;
      const command = ['/bin/bash', '-c', script];
      expect(await runBare({ place, command })).toMatchObject({ code: 0, stdout: 'from a pipe\n' });
    }),
  );

  it(
    'refuses code and files that would be waited for, and names them',
    withPlace(self, async (place) => {
      const pipe = place.at('work/pipe.py');
      spawnSync('mkfifo', ['-m', '666', pipe]);
      for (const args of [[pipe], ['--lang', 'bash', '--file', pipe]]) {
        const outcome = await exec(place, args, { code: '' });
        expect(outcome).toMatchObject({ code: 2, stdout: '' });
        expect(outcome.stderr).toContain(`"${pipe}": it is not a regular file`);
      }
    }),
  );

  it(
    'runs for each of several tasks in one workspace its own code',
    withPlace(self, async (place) => {
      place.write('work/shared/x.mjs', 'export const n = 1;');
      const numbers = [0, 1, 2, 3, 4, 5, 6, 7, 0];
      const tasks = numbers.map((number) => {
        const code = `import { n } from './x.mjs'; console.log(n + ${number});`;
        return JSON.stringify({ language: 'javascript', code });
      });
      const flags = ['-q', '--workspace', `${place.at('work/shared')}:rw`, '--parallel', '4'];
      const { stdout } = await exec(place, [...flags, '--batch', '-'], { code: tasks.join('\n') });
      const results = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Result);
      expect(results.map((one) => Number(one.stdout) - 1)).toEqual(numbers);
      expect(results[0]?.evidence.run_id).toBe(results[8]?.evidence.run_id);
      expect(fs.readdirSync(place.at('work/shared'))).toEqual(['x.mjs']);
    }),
  );
});
