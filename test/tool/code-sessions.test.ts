import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/backends/sandbox-error.ts';
import { createCodeTool } from '../../src/tool/code-tool.ts';
import { PYTHON, refusal, text } from './calls.ts';
import { FakeBackend } from './fake-backend.ts';

describe('the sandboxes of createCodeTool()', () => {
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
});
