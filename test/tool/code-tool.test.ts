import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/backends/sandbox-error.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import type { CodeInput } from '../../src/tool/code-input.ts';
import { createCodeTool } from '../../src/tool/code-tool.ts';
import { PYTHON, refusal, text } from './calls.ts';
import { FakeBackend } from './fake-backend.ts';

describe('createCodeTool()', () => {
  it('hands code over as a file outside of the workspace, never as an argument', async () => {
    const backend = new FakeBackend();
    const output = await createCodeTool({ backend, spec: {} }).execute(PYTHON);
    const [sandbox] = backend.made;
    expect(sandbox?.calls[0]?.argv).toEqual(['python3', '/run/code/main.py']);
    expect(Buffer.from(sandbox?.code ?? []).toString()).toBe('print(1)');
    expect(sandbox?.calls[0]?.options.codeSha256).toBe(sha256Hex('print(1)'));
    expect(output.evidence).toMatchObject({ run_id: 'run-1', code_sha256: sha256Hex('print(1)') });
    expect(sandbox?.isDisposed).toBe(true);
  });

  it('hides the code in the workspace where a backend has no other place, and takes it away', async () => {
    const backend = new FakeBackend();
    backend.hasCodePlace = false;
    const seen: string[] = [];
    backend.program = ({ argv, files }) => {
      seen.push(...argv, ...files.keys());
      files.set('made.txt', text('x'));
      return Promise.resolve({});
    };
    const output = await createCodeTool({ backend, spec: {} }).execute(PYTHON);
    expect(seen).toEqual(['python3', '/workspace/.assay-code/main.py', '.assay-code/main.py']);
    expect([...(backend.made[0]?.files.keys() ?? [])]).toEqual(['made.txt']);
    expect(output.files.map(({ path }) => path)).toEqual(['made.txt']);
  });

  it.each([
    ["import './helper.js'", '/workspace/.assay-main.mjs'],
    ["require('left-pad')", '/workspace/.assay-main.cjs'],
    ["import fs from 'fs'", '/run/code/main.mjs'],
    ["require('node:fs')", '/run/code/main.cjs'],
    ['await 1', '/run/code/main.mjs'],
    ['(async () => { await 1 })()', '/run/code/main.cjs'],
    ['console.log({ await: 1, import: 2 }.import)', '/run/code/main.cjs'],
    ['export const a = `import x`', '/run/code/main.mjs'],
    ["import('node:fs').then(console.log)", '/run/code/main.cjs'],
  ])('puts %j at %s', async (code, path) => {
    const backend = new FakeBackend();
    await createCodeTool({ backend, spec: {} }).execute({ language: 'javascript', code });
    expect(backend.made[0]?.calls[0]?.argv).toEqual(['node', path]);
  });

  it('gives a module the require that it calls, and keeps its lines', async () => {
    const backend = new FakeBackend();
    const code = "const fs = require('fs');\nawait 1;";
    await createCodeTool({ backend, spec: {} }).execute({ language: 'javascript', code });
    const lines = Buffer.from(backend.made[0]?.code ?? [])
      .toString()
      .split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/createRequire.*const fs = require/);
  });

  it('runs TypeScript without its types, and says where it cannot be read', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: {} });
    await tool.execute({ language: 'typescript', code: 'enum E { A }\nconst x: E = E.A;' });
    expect(Buffer.from(backend.made[0]?.code ?? []).toString()).not.toContain(': E');
    const bad = await tool.execute({ language: 'typescript', code: 'let a = 1;\nlet b: = 2;' });
    expect(bad).toMatchObject({
      outcome: 'refused',
      exit_code: 2,
      evidence: { code_sha256: expect.any(String) },
    });
    expect(bad.stderr).toContain('2:8');
    expect(backend.made).toHaveLength(1);
  });

  it.each(['../x', '/etc/passwd', 'a/../../b', '', '/workspace', 'a\0b'])(
    'takes no file at %j',
    async (path) => {
      const backend = new FakeBackend();
      const tool = createCodeTool({ backend, spec: {} });
      const error = await refusal(tool.execute({ ...PYTHON, files: [{ path, content: '' }] }));
      expect(['path_invalid', 'input_invalid']).toContain(error.code);
      expect(backend.made.flatMap(({ calls }) => calls)).toEqual([]);
      expect(backend.made.every(({ isDisposed }) => isDisposed)).toBe(true);
    },
  );

  it.each([
    [{ language: 'ruby', code: '' }, 'language is one of'],
    [{ language: 'python' }, 'lacks "code"'],
    [{ language: 'python', code: 1 }, 'code is an integer, and must be a string'],
    [{ ...PYTHON, timeout_ms: 1 }, 'timeout_ms is 1'],
    [{ ...PYTHON, network: 'all' }, 'has no "network"'],
    [{ ...PYTHON, files: [{ path: 'a', content: 'x', encoding: 'hex' }] }, 'files[0].encoding'],
    [{ ...PYTHON, keep_session: true }, 'has no "keep_session"'],
  ])('refuses %j', async (input, message) => {
    const tool = createCodeTool({ backend: new FakeBackend(), spec: {} });
    const error = await refusal(tool.execute(input as CodeInput));
    expect(error).toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining(message),
    });
  });

  it('refuses what the backend cannot guarantee before a sandbox is made', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: { network: { allow: ['example.org:443'] } } });
    expect(await refusal(tool.execute(PYTHON))).toMatchObject({
      code: 'policy_unenforceable',
      unmet: [{ item: 'network' }],
    });
    backend.isAvailable = false;
    const other = createCodeTool({ backend, spec: {} });
    expect(await refusal(other.execute(PYTHON))).toMatchObject({ code: 'backend_unavailable' });
    expect(backend.made).toEqual([]);
    // What was not there may be there next time.
    backend.isAvailable = true;
    expect(await other.execute(PYTHON)).toMatchObject({ outcome: 'exited' });
  });

  it('fails a run whose evidence was asked for and was not written', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: {}, bundle: () => '/srv/x.tar.gz' });
    expect(await refusal(tool.execute(PYTHON))).toMatchObject({ code: 'evidence_write_failed' });
    expect(backend.made[0]?.calls[0]?.options.bundle).toBe('/srv/x.tar.gz');
    expect(backend.made[0]?.isDisposed).toBe(true);
  });

  it('hides no file of the program, whatever its name', async () => {
    const backend = new FakeBackend();
    const names = [
      '.assay-code',
      '.assay-main.mjs',
      '.assay-x',
      `.assay-main-${'0'.repeat(16)}.mjs`,
    ];
    backend.program = ({ files }) => {
      for (const name of names) files.set(name, text('hidden'));
      return Promise.resolve({});
    };
    const workspace = { host: '/srv', mode: 'rw' } as const;
    for (const spec of [{}, { workspace }]) {
      const output = await createCodeTool({ backend, spec }).execute(PYTHON);
      expect(output.files.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    }
  });

  it('keeps the result of a run whose code cannot be taken away', async () => {
    const backend = new FakeBackend();
    backend.program = (_, sandbox) => {
      sandbox.fs.rm = () => Promise.reject(new SandboxError('path_invalid', 'It is not empty'));
      return Promise.resolve({ stdout: text('done') });
    };
    const code = "import './helper.js'";
    const output = await createCodeTool({ backend }).execute({ language: 'javascript', code });
    expect(output).toMatchObject({ outcome: 'exited', stdout: 'done' });
    expect(output.files.map(({ path }) => path)).toEqual(['.assay-main.mjs']);
  });
});
