import { describe, expect, it } from 'vitest';
import { SandboxPool } from '../../src/tool/pool.ts';
import { FakeBackend, type FakeSandbox } from './fake-backend.ts';

function makePool(size: number): { backend: FakeBackend; pool: SandboxPool } {
  const backend = new FakeBackend();
  const pool = new SandboxPool({ create: () => backend.create({}), size, refillDelayMs: 0 });
  return { backend, pool };
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('SandboxPool', () => {
  it('makes sandboxes ahead, as many as it may', async () => {
    const { backend, pool } = makePool(3);
    await pool.settle();
    expect(backend.made).toHaveLength(3);
    await tick();
    expect(backend.made).toHaveLength(3);
    await pool.close();
  });

  it('hands each out once, and replaces it', async () => {
    const { backend, pool } = makePool(2);
    const taken = new Set<unknown>();
    for (let count = 0; count < 10; count++) {
      const sandbox = await pool.take();
      expect(taken.has(sandbox)).toBe(false);
      taken.add(sandbox);
      await sandbox[Symbol.asyncDispose]();
      await tick();
      expect(pool.warmCount).toBe(2);
    }
    expect(backend.made).toHaveLength(12);
    await pool.close();
  });

  it('makes one at once when none waits', async () => {
    const { backend, pool } = makePool(1);
    const taken = await Promise.all([pool.take(), pool.take(), pool.take()]);
    expect(new Set(taken).size).toBe(3);
    expect(backend.made.length).toBeGreaterThanOrEqual(3);
    await pool.close();
  });

  it('tells whoever takes a sandbox why it could not be made, and the next gets a good one', async () => {
    const backend = new FakeBackend();
    backend.failures = [new Error('no room')];
    const pool = new SandboxPool({ create: () => backend.create({}), size: 1, refillDelayMs: 0 });
    await pool.settle();
    await expect(pool.take()).rejects.toThrow('no room');
    expect(await pool.take()).toBeDefined();
    await pool.close();
  });

  it('disposes of what waits when it is closed, also of what is still being made', async () => {
    const backend = new FakeBackend();
    const pool = new SandboxPool({
      create: async () => {
        await tick();
        return backend.create({});
      },
      size: 2,
    });
    await pool.close();
    expect(backend.made.map(({ isDisposed }) => isDisposed)).toEqual([true, true]);
    await expect(pool.take()).rejects.toThrow('closed');
  });

  it('leaves what was taken to the taker when it is closed', async () => {
    const { pool } = makePool(1);
    const taken = (await pool.take()) as FakeSandbox;
    await pool.close();
    expect(taken.isDisposed).toBe(false);
  });

  it('disposes of a sandbox that nobody waits for any more', async () => {
    const backend = new FakeBackend();
    const pool = new SandboxPool({
      create: async () => {
        await tick();
        return backend.create({});
      },
      size: 1,
      refillDelayMs: 1000,
    });
    const abort = new AbortController();
    const taken = pool.take(abort.signal);
    abort.abort(new Error('enough'));
    await expect(taken).rejects.toThrow('enough');
    await tick();
    await tick();
    expect(backend.made.map(({ isDisposed }) => isDisposed)).toEqual([true]);
    await pool.close();
  });
});
