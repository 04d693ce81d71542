import { describe, expect, it } from 'vitest';
import { createCodeTool } from '../../src/tool/code-tool.ts';
import { FakeBackend } from './fake-backend.ts';

const SHARED = { workspace: { host: '/srv/shared', mode: 'rw' } } as const;

function shareFiles(): FakeBackend {
  const backend = new FakeBackend();
  backend.sharedFiles = new Map();
  return backend;
}

/** A program that prints the code that it was started with, after a while. */
function printCode(backend: FakeBackend): void {
  backend.program = async ({ argv, files }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const path = argv.at(-1)?.replace('/workspace/', '') ?? '';
    return { stdout: files.get(path) ?? Buffer.from(`no ${path}`) };
  };
}

const codeOf = (number: number): string => `import './x.mjs'; console.log(${number})`;

describe('code in a workspace that many sandboxes have', () => {
  it.each([
    ['different', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['equal', [1, 1, 1, 1]],
  ])('is for each of several %s calls at a time its own', async (_, numbers) => {
    const backend = shareFiles();
    printCode(backend);
    const tool = createCodeTool({ backend, spec: SHARED });
    const codes = numbers.map(codeOf);
    const outputs = await Promise.all(
      codes.map((code) => tool.execute({ language: 'javascript', code })),
    );
    expect(outputs.map(({ stdout }) => stdout)).toEqual(codes);
    expect(outputs.flatMap(({ files }) => files)).toEqual([]);
    expect([...(backend.sharedFiles?.keys() ?? [])]).toEqual([]);
  });

  it('has the same name in equal calls, so that their records are equal', async () => {
    const backend = shareFiles();
    const tool = createCodeTool({ backend, spec: SHARED });
    for (const number of [1, 1, 2]) {
      await tool.execute({ language: 'javascript', code: codeOf(number) });
    }
    const [first, second, third] = backend.made.map(({ calls }) => calls[0]?.argv.at(-1));
    expect(first).toMatch(/^\/workspace\/\.assay-main-[0-9a-f]{16}\.mjs$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('is never put elsewhere when somebody else has its name', async () => {
    const backend = shareFiles();
    const tool = createCodeTool({ backend, spec: SHARED });
    const input = { language: 'javascript', code: codeOf(1) } as const;
    await tool.execute(input);
    const name = backend.made[0]?.calls[0]?.argv.at(-1)?.replace('/workspace/', '') ?? '';
    backend.sharedFiles?.set(name, Buffer.from('of somebody else'));
    for (const _ of [1, 2])
      await expect(tool.execute(input)).rejects.toMatchObject({
        code: 'path_denied',
        message: expect.stringContaining(name),
      });
    expect(backend.made.flatMap(({ calls }) => calls)).toHaveLength(1);
    expect(backend.sharedFiles?.get(name)?.toString()).toBe('of somebody else');
  });

  it('runs from outside of a workspace that is read-only', async () => {
    const backend = new FakeBackend();
    const spec = { workspace: { host: '/srv/shared', mode: 'ro' } } as const;
    await createCodeTool({ backend, spec }).execute({ language: 'javascript', code: codeOf(1) });
    expect(backend.made[0]?.calls[0]?.argv).toEqual(['node', '/run/code/main.mjs']);
  });
});
