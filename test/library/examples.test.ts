import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const LIBRARY = pathToFileURL(join(ROOT, 'dist/index.mjs')).href;
const PAGE = fs.readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
const EXAMPLES = Array.from(PAGE.matchAll(/```js\n([\s\S]*?)```/g), ([, code = '']) => ({
  title: /create\w+\([^)]*/.exec(code)?.[0] ?? code.slice(0, 40),
  code,
}));

describe('docs/library.md', () => {
  let directory: string;
  beforeAll(() => {
    directory = fs.mkdtempSync(join(tmpdir(), 'library-'));
  });
  afterAll(() => fs.rmSync(directory, { recursive: true }));

  it('has examples', () => expect(EXAMPLES.length).toBeGreaterThan(5));

  it.each(EXAMPLES)('shows what is printed: $title', async ({ code }) => {
    const file = join(directory, 'example.mjs');
    fs.writeFileSync(file, code.replaceAll("from 'assay'", `from '${LIBRARY}'`));
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    for await (const data of child.stdout) out += String(data);
    const expected = Array.from(code.matchAll(/^\/\/ prints: (.*)$/gm), ([, line]) => line);
    const lines = out.trim().split('\n');
    expect(expected.length).toBeGreaterThan(0);
    for (const line of expected) expect(lines.join('\n')).toContain(line);
  });

  it('names every error code, and no other', () => {
    const source = fs.readFileSync(join(ROOT, 'src/backends/sandbox-error.ts'), 'utf8');
    const codes = Array.from(source.matchAll(/^ {2}\| '(\w+)'/gm), ([, code]) => code);
    expect(codes.length).toBeGreaterThan(10);
    const section = PAGE.slice(PAGE.indexOf('## Errors'));
    const named = Array.from(section.matchAll(/^\| `(\w+)`/gm), ([, code]) => code);
    expect(new Set(named)).toEqual(new Set(codes));
  });
});

describe('the package', () => {
  it('ends a program that has forgotten to dispose of a sandbox', () => {
    const code = `import { createSandbox } from '${LIBRARY}';
const sandbox = await createSandbox();
console.log((await sandbox.exec(['true'])).isOk);`;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect([stdout, status]).toEqual(['true\n', 0]);
  });

  it('can be required as well as imported, and is the same', () => {
    const code = `const required = require(${JSON.stringify(join(ROOT, 'dist/library/index.cjs'))});
import('${LIBRARY}').then((imported) => console.log(Object.keys(imported).every((name) => imported[name] === required[name])));`;
    const { stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
    expect(stdout).toBe('true\n');
  });

  it('has types that hold for programs which use it', () => {
    const directory = fs.mkdtempSync(join(tmpdir(), 'library-types-'));
    try {
      fs.mkdirSync(join(directory, 'node_modules/@types'), { recursive: true });
      fs.symlinkSync(ROOT, join(directory, 'node_modules/assay'));
      fs.symlinkSync(
        join(ROOT, 'node_modules/@types/node'),
        join(directory, 'node_modules/@types/node'),
      );
      fs.writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
      fs.writeFileSync(
        join(directory, 'use.ts'),
        `import { createSandbox, createCodeTool, type ExecResult, type Outcome, SandboxError } from 'assay';
const sandbox = await createSandbox({ backend: 'local', limits: { wallMs: 1000 }, network: { allow: ['example.org:443'] } });
const result: ExecResult = await sandbox.exec(['true'], { stdin: 'x' });
const outcome: Outcome = result.outcome;
if (outcome.kind === 'limit') console.log(outcome.limit.length, outcome.value.toFixed());
// @ts-expect-error there is no such backend
await createSandbox({ backend: 'none' });
// @ts-expect-error a limit is a number
await createSandbox({ limits: { pids: 'many' } });
const error: unknown = 0;
if (SandboxError.is(error)) console.log(error.unmet.map(({ item }) => item));
console.log(createCodeTool().name satisfies 'execute_code');
`,
      );
      const options = [
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2023',
        '--lib',
        'es2023,esnext.disposable',
        '--types',
        'node',
      ];
      const { stdout, status } = spawnSync(
        join(ROOT, 'node_modules/.bin/tsc'),
        [...options, join(directory, 'use.ts')],
        { encoding: 'utf8', cwd: directory },
      );
      expect([stdout, status]).toEqual(['', 0]);
    } finally {
      fs.rmSync(directory, { recursive: true });
    }
  });
});
