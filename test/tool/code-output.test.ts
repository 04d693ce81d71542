import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/backends/sandbox-error.ts';
import { createCodeTool } from '../../src/tool/code-tool.ts';
import { renderForModel } from '../../src/tool/model-text.ts';
import { findInputProblem } from '../../src/tool/schema.ts';
import { PYTHON, text } from './calls.ts';
import { FakeBackend } from './fake-backend.ts';

describe('the result of createCodeTool()', () => {
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

  it('shows a model a name with a line break otherwise than one that spells it out', async () => {
    const backend = new FakeBackend();
    backend.program = ({ files }) => {
      for (const name of ['a\nb', 'a\\u000ab']) files.set(name, text('x'));
      return Promise.resolve({});
    };
    const shown = renderForModel(await createCodeTool({ backend }).execute(PYTHON));
    expect(shown).toContain(String.raw`files: a\u000ab (added), a\\u000ab (added)`);
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
