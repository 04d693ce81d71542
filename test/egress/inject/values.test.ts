import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AssayError } from '../../../src/core/errors.ts';
import { prepareInjection } from '../../../src/egress/inject/prepare.ts';
import { readInjectedValues } from '../../../src/egress/inject/values.ts';
import { filterEnvironment } from '../../../src/plan/environment.ts';
import type { FsRule, InjectRule } from '../../../src/policy/policy.ts';
import { injectInto } from './inject-kit.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'values-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ENV = { PATH: '/usr/bin:/bin' };

function command(...words: string[]): InjectRule {
  return injectInto('api.test', { from: { command: words } });
}

function writeScript(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function read(
  rule: InjectRule,
  env: Record<string, string> = ENV,
  limits = {},
): Promise<string | undefined> {
  const values = await readInjectedValues([rule], { env, canProgramWrite: () => false, limits });
  return values.get(rule);
}

async function fail(rule: InjectRule, env?: Record<string, string>, limits = {}): Promise<string> {
  const error: unknown = await read(rule, env, limits).catch((caught: unknown) => caught);
  if (!(error instanceof AssayError)) throw new Error('it did not fail');
  expect(error.code).toBe('E_INJECT_FAILED');
  expect(`${error.message} ${error.hint}`).not.toContain('hidden-value');
  expect(error.message).toContain('Authorization for api.test');
  return error.message;
}

describe('a value from a variable', () => {
  it('is taken as it is', async () => {
    expect(await read(injectInto('api.test'), { API_TOKEN: 'Bearer a b' })).toBe('Bearer a b');
  });

  it.each([
    ['that is not set', {}, 'API_TOKEN is not set'],
    ['that is empty', { API_TOKEN: '' }, 'empty'],
    ['with a line feed', { API_TOKEN: 'hidden-value\nX: y' }, 'several lines'],
    ['with a carriage return', { API_TOKEN: 'hidden-value\rX: y' }, 'several lines'],
    ['with a NUL', { API_TOKEN: 'hidden-value\0' }, 'several lines'],
    ['with an escape', { API_TOKEN: 'hidden-value\u001b[0m' }, 'no header can have'],
    ['beyond ASCII', { API_TOKEN: 'hidden-value\u2028' }, 'no header can have'],
    ['with a blank behind it', { API_TOKEN: 'hidden-value ' }, 'blanks around it'],
    ['that is too long', { API_TOKEN: 'hidden-value'.repeat(1000) }, 'more than 8192'],
  ])('is refused: one %s', async (_, env, why) => {
    expect(await fail(injectInto('api.test'), env as Record<string, string>)).toContain(why);
  });
});

describe('a value from a command', () => {
  it('is what it prints, without the end of the line', async () => {
    expect(await read(command('printf', 'Bearer %s\\n', 'x y'))).toBe('Bearer x y');
    expect(await read(command('/usr/bin/printf', 'abc'))).toBe('abc');
  });

  it('goes through no shell', async () => {
    expect(await read(command('echo', '$(id); `id` | cat > /x'))).toBe('$(id); `id` | cat > /x');
  });

  it('has the environment of the user and nothing to read', async () => {
    const path = writeScript('env', 'cat; echo "$NAME"');
    expect(await read(command(path), { ...ENV, NAME: 'abc' })).toBe('abc');
  });

  it.each([
    ['that fails', ['sh', '-c', 'echo hidden-value; echo hidden-value >&2; exit 3'], 'code 3'],
    ['that is killed', ['sh', '-c', 'echo hidden-value; kill -9 $$'], 'SIGKILL'],
    ['that is not there', ['no-such-program-here'], 'can be found'],
    ['by a relative path', ['./token.sh'], 'relative path'],
    ['that prints nothing', ['true'], 'empty value'],
    ['that prints two lines', ['printf', 'hidden-value\\nb\\n'], 'several lines'],
  ])('is refused: one %s', async (_, words, why) => {
    expect(await fail(command(...words))).toContain(why);
  });

  it('is found in whole places of PATH only', async () => {
    writeScript('planted', 'echo planted');
    const before = process.cwd();
    process.chdir(dir);
    try {
      expect(await fail(command('planted'), { PATH: ':.:/usr/bin' })).toContain('can be found');
    } finally {
      process.chdir(before);
    }
    expect(await read(command('planted'), { PATH: `${dir}:/usr/bin:/bin` })).toBe('planted');
  });

  it('is ended with all that it started when it takes too long', async () => {
    const mark = join(dir, 'alive');
    const path = writeScript('slow', `(sleep 1; echo > ${mark}) & echo hidden-value; sleep 60`);
    const started = performance.now();
    expect(await fail(command(path), ENV, { timeoutMs: 300 })).toContain('within 0.3 s');
    expect(performance.now() - started).toBeLessThan(5000);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(() => chmodSync(mark, 0o600)).toThrow('ENOENT');
  });

  it('is ended when it prints without end', async () => {
    expect(await fail(command('yes', 'hidden-value'))).toContain('more than 16384 bytes');
  });

  it('is not run where the program inside could have written it', async () => {
    const path = writeScript('token', `echo > ${dir}/ran; echo value`);
    const origin = { source: 'policy.yaml:3:5', key: 'fs.write', text: dir };
    const rule: FsRule = { effect: 'allow', rights: ['write'], pattern: dir, origin };
    const inject = [command(path)];
    const prepared = prepareInjection({
      policy: { fs: [rule], net: [], inject },
      env: ENV,
      now: Date.now,
    });
    await expect(prepared).rejects.toThrow('may be written by the program inside');
    expect(() => chmodSync(join(dir, 'ran'), 0o600)).toThrow('ENOENT');
  });
});

describe('variables that hold a value', () => {
  it('are kept from the program, whatever passes them', async () => {
    const env = {
      API_TOKEN: 'Bearer s3cret-99887766',
      GH: 's3cret-99887766',
      URL: 'https://u:s3cret-99887766@x/',
      OTHER: 'fine',
    };
    const policy = { fs: [], net: [], inject: [injectInto('api.test')] };
    const { withheld } = await prepareInjection({ policy, env, now: Date.now });
    const rules = {
      mode: 'passthrough',
      isExecStripped: false,
      isPathSafe: false,
      allow: ['API_TOKEN'],
      deny: [],
      set: { GH: 'placeholder' },
    } as const;
    const filtered = filterEnvironment({ env, rules, withheld });
    expect(filtered.env).toEqual([
      ['GH', 'placeholder'],
      ['OTHER', 'fine'],
    ]);
    expect(filtered.scrubbed).toEqual(['API_TOKEN', 'GH', 'URL']);
  });

  it('are not taken for one because of a few letters', async () => {
    const env = { API_TOKEN: 'ab', PATH: '/usr/bin:/cab', SAME: 'ab' };
    const policy = { fs: [], net: [], inject: [injectInto('api.test')] };
    const { withheld } = await prepareInjection({ policy, env, now: Date.now });
    expect([...withheld]).toEqual(['API_TOKEN', 'SAME']);
  });
});
