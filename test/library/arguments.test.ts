import { describe, expect, it } from 'vitest';
import { loadBackend } from '../../src/backends/registry.ts';

const PROGRAM = ['python3', '-c', 'print(1)'];

/** Others check it in the same place; these two need no engine. */
describe.each(['local', 'wasm'] as const)('a call of %s', async (id) => {
  const backend = await loadBackend(id);
  const { isAvailable } = await backend.probe();

  it.skipIf(!isAvailable).each([
    ['no program', [], {}, 'needs a program'],
    ['an empty one', [''], {}, 'needs a program'],
    ['a NUL in the program', ['python3\0'], {}, 'without null characters'],
    ['a NUL in an argument', [...PROGRAM, 'a\0b'], {}, 'without null characters'],
    ['a NUL in a variable', PROGRAM, { A: 'b\0c' }, 'Cannot use "A" as a variable'],
    ['a NUL in a name', PROGRAM, { 'A\0': 'b' }, 'Cannot use "A\\u0000" as a variable'],
    ['no name', PROGRAM, { '': 'b' }, 'Cannot use "" as a variable'],
    ['an = in a name', PROGRAM, { 'A=B': 'c' }, 'Cannot use "A=B" as a variable'],
  ])('with %s is refused', async (_, argv, env, message) => {
    await using sandbox = await backend.create({});
    await expect(sandbox.exec(argv, { env })).rejects.toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining(message),
    });
  });
});
