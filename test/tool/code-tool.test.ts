import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/backends/sandbox-error.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import type { CodeInput } from '../../src/tool/code-input.ts';
import { createCodeTool } from '../../src/tool/code-tool.ts';
import { renderForModel } from '../../src/tool/model-text.ts';
import { findInputProblem } from '../../src/tool/schema.ts';
import { FakeBackend } from './fake-backend.ts';

const text = (value: string): Uint8Array => Buffer.from(value);
const PYTHON = { language: 'python', code: 'print(1)' } as const satisfies CodeInput;

async function refusal(promise: Promise<unknown>): Promise<SandboxError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!SandboxError.is(error)) throw new Error(`expected a SandboxError, not ${String(error)}`);
  return error;
}

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

  it('tells of the changes of the program, not of the files that were handed in', async () => {
    const backend = new FakeBackend();
    backend.program = ({ files }) => {
      files.set('b.txt', text('changed'));
      files.set('c.txt', text('new'));
      files.delete('d.txt');
      return Promise.resolve({});
    };
    const output = await createCodeTool({ backend, spec: {} }).execute({
      ...PYTHON,
      files: ['a.txt', 'b.txt', '/workspace/d.txt'].map((path) => ({ path, content: 'same' })),
      outputs: ['c.txt', 'missing'],
    });
    expect(output.files.map(({ path, change }) => `${path} ${change}`)).toEqual([
      'b.txt modified',
      'c.txt added',
      'd.txt deleted',
    ]);
    expect(output.outputs).toEqual([
      { path: 'c.txt', content: 'new', encoding: 'utf8' },
      { path: 'missing', error: 'There is no missing' },
    ]);
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

  it('gives bytes that are not UTF-8 as base64, too', async () => {
    const backend = new FakeBackend();
    backend.program = () => Promise.resolve({ stdout: new Uint8Array([0x61, 0xff]) });
    const output = await createCodeTool({ backend, spec: {} }).execute(PYTHON);
    expect(output).toMatchObject({ stdout: 'a\ufffd', stdout_base64: 'Yf8=', stderr: '' });
    expect(output).not.toHaveProperty('stderr_base64');
  });

  it('leaves out the middle of long output, and counts it', async () => {
    const backend = new FakeBackend();
    backend.program = () =>
      Promise.resolve({
        stdout: text(`start${'x'.repeat(1000)}end`),
        truncated: { stdout: 5, stderr: 0 },
      });
    const output = await createCodeTool({ backend, spec: {}, maxOutputChars: 100 }).execute(PYTHON);
    expect(output.stdout).toMatch(/^startx+\n\[\.\.\. 908 bytes left out \.\.\.\]\nx+end$/);
    expect(output.truncated).toEqual({ stdout: 913, stderr: 0 });
  });

  it.each([
    ['bytes that are no text', Buffer.alloc(100_000, 0xff)],
    ['characters of two units', Buffer.from('a' + '😀'.repeat(5000))],
    ['characters and other bytes', Buffer.from([...Buffer.from('é😀'.repeat(5000)), 0xff])],
  ])('counts the bytes of %s that are left out, and cuts no character', async (_, stdout) => {
    const backend = new FakeBackend();
    backend.program = () => Promise.resolve({ stdout });
    const output = await createCodeTool({ backend, spec: {}, maxOutputChars: 101 }).execute(PYTHON);
    const [head = '', tail = ''] = output.stdout.split(/\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
    expect(output.stdout.isWellFormed()).toBe(true);
    expect(head.length + tail.length).toBeLessThanOrEqual(101);
    // Each stands for one byte here, and takes three.
    const replaced = `${head}${tail}`.split('\ufffd').length - 1;
    const shownBytes = Buffer.byteLength(`${head}${tail}`) - 2 * replaced;
    expect(output.truncated.stdout).toBe(stdout.length - shownBytes);
    const { stdout_base64: base64 } = output;
    if (base64 !== undefined)
      expect(output.truncated.stdout_base64).toBe(
        stdout.length - Buffer.from(base64, 'base64').length,
      );
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

  it('says that files are not known when they are gone with the sandbox', async () => {
    const backend = new FakeBackend();
    const gone = new SandboxError('gone', 'The sandbox is gone');
    backend.program = (_, sandbox) => {
      sandbox.changes = () => Promise.reject(gone);
      sandbox.fs.stat = () => Promise.reject(gone);
      return Promise.resolve({ stdout: text('done') });
    };
    const tool = createCodeTool({ backend });
    const output = await tool.execute({ ...PYTHON, outputs: ['a'] });
    expect(output).toMatchObject({
      stdout: 'done',
      files: [],
      files_error: 'The sandbox is gone',
      outputs: [{ path: 'a', error: 'The sandbox is gone' }],
    });
    expect(findInputProblem(output, tool.outputSchema)).toBeUndefined();
    expect(renderForModel(output)).toContain('files: not known (The sandbox is gone)');
  });

  it('keeps files when asked, under a name that cannot be guessed', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: {}, session: 'on-request' });
    const first = await tool.execute({ ...PYTHON, keep_session: true });
    expect(first.session).toMatch(/^s-[0-9a-f]{32}$/);
    const second = await tool.execute({ ...PYTHON, session: first.session });
    expect(second.session).toBe(first.session);
    await tool.execute(PYTHON);
    expect(backend.made.map(({ calls }) => calls.length)).toEqual([2, 1]);
    expect(await refusal(tool.execute({ ...PYTHON, session: 's-0' }))).toMatchObject({
      code: 'not_found',
    });
    await tool.close();
    expect(backend.made.every(({ isDisposed }) => isDisposed)).toBe(true);
  });

  it('tells each call of a session of its own changes', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: {}, session: 'shared' });
    let count = 0;
    backend.program = ({ files }) => {
      files.set(`${count}.txt`, text('x'));
      if (count === 2) files.delete('0.txt');
      count += 1;
      return Promise.resolve({});
    };
    const list = async (): Promise<string[]> =>
      (await tool.execute(PYTHON)).files.map(({ path, change }) => `${path} ${change}`);
    expect(await list()).toEqual(['0.txt added']);
    expect(await list()).toEqual(['1.txt added']);
    expect(await list()).toEqual(['0.txt deleted', '2.txt added']);
    expect(backend.made).toHaveLength(1);
    await tool.close();
  });

  it('runs the calls of one session one after the other', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: {}, session: 'shared' });
    let running = 0;
    let most = 0;
    backend.program = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return {};
    };
    await Promise.all([1, 2, 3].map(() => tool.execute(PYTHON)));
    expect(most).toBe(1);
    await tool.close();
  });

  it('says that a call was taken back before it ran', async () => {
    const backend = new FakeBackend();
    const signal = AbortSignal.abort();
    backend.failures = [new Error('aborted')];
    const output = await createCodeTool({ backend, spec: {} }).execute(PYTHON, { signal });
    expect(output).toMatchObject({ outcome: 'aborted', exit_code: 137 });
  });

  it('answers before the sandbox is gone, and is closed when it is', async () => {
    const backend = new FakeBackend();
    const order: string[] = [];
    backend.program = (_, sandbox) => {
      const end = sandbox[Symbol.asyncDispose].bind(sandbox);
      sandbox[Symbol.asyncDispose] = async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        await end();
        order.push('gone');
      };
      return Promise.resolve({});
    };
    const tool = createCodeTool({ backend });
    await tool.execute(PYTHON);
    order.push('answered');
    await tool.close();
    expect([...order, 'closed']).toEqual(['answered', 'gone', 'closed']);
  });

  it('says when it is closed that a sandbox could not be ended', async () => {
    const backend = new FakeBackend();
    backend.program = (_, sandbox) => {
      sandbox[Symbol.asyncDispose] = () =>
        Promise.reject(new SandboxError('engine_failed', 'It is stuck'));
      return Promise.resolve({});
    };
    const tool = createCodeTool({ backend });
    expect(await tool.execute(PYTHON)).toMatchObject({ outcome: 'exited' });
    expect(await refusal(tool.close())).toMatchObject({ code: 'engine_failed' });
  });

  it('ends what runs when it is closed', async () => {
    const backend = new FakeBackend();
    const tool = createCodeTool({ backend, spec: {} });
    backend.program = ({ options: { signal } }) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () =>
          resolve({ outcome: { kind: 'aborted' }, exitCode: 137 }),
        );
        setTimeout(() => void tool.close(), 1);
      });
    expect(await tool.execute(PYTHON)).toMatchObject({ outcome: 'aborted' });
  });

  it('has results of the shape that it promises', async () => {
    const backend = new FakeBackend();
    backend.program = ({ files }) => {
      files.set('a', text('b'));
      return Promise.resolve({
        outcome: { kind: 'limit', limit: 'memoryBytes', value: 1 },
        stderr: new Uint8Array([0xff]),
        denials: [
          { action: 'net.connect', target: 'example.org:443', rule: 'none', hint: 'allow it' },
        ],
        usage: { cpuMs: 1.5, maxMemoryBytes: 2, diskBytes: 3 },
        reached: ['memoryBytes'],
      });
    };
    const tool = createCodeTool({ backend, spec: {} });
    const output = await tool.execute({ ...PYTHON, outputs: ['a'] });
    expect(findInputProblem(output, tool.outputSchema)).toBeUndefined();
    expect(JSON.parse(JSON.stringify(output))).toEqual(output);
  });
});

describe('renderForModel()', () => {
  it('says what was printed, how it ended, what was refused and what would allow it', async () => {
    const backend = new FakeBackend();
    const denial = {
      action: 'net.connect',
      target: 'example.org:443',
      rule: 'network none',
      hint: 'allow example.org:443',
    } as const;
    backend.program = () =>
      Promise.resolve({
        outcome: { kind: 'exited', exitCode: 1 },
        exitCode: 1,
        durationMs: 1234,
        stdout: text('out\n'),
        stderr: text('err\n'),
        denials: [denial, denial],
      });
    const output = await createCodeTool({ backend, spec: {} }).execute(PYTHON);
    expect(renderForModel(output)).toBe(
      'out\n\n[stderr]\nerr\n\n[exit 1 after 1.23 s. refused: net.connect example.org:443 by network none (allow example.org:443; --net example.org:443 would allow it)]',
    );
  });
});
