import { describe, expect, it } from 'vitest';
import { Sessions } from '../../src/tool/sessions.ts';
import { FakeBackend } from './fake-backend.ts';

describe('Sessions', () => {
  it('has no more places than there are, also for calls at a time', async () => {
    const backend = new FakeBackend();
    const sessions = new Sessions({ maxSessions: 2 });
    const open = (): Promise<unknown> => sessions.open(() => backend.create({}));
    const opened = await Promise.allSettled([open(), open(), open(), open()]);
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(backend.made).toHaveLength(2);
    expect(sessions.size).toBe(2);
    await sessions.close();
  });

  it('gives a place back when no sandbox could be made', async () => {
    const backend = new FakeBackend();
    backend.failures = [new Error('no')];
    const sessions = new Sessions({ maxSessions: 1 });
    await expect(sessions.open(() => backend.create({}))).rejects.toThrow('no');
    await sessions.open(() => backend.create({}));
    expect(sessions.size).toBe(1);
    await sessions.close();
  });

  it('ends a sandbox that is made while it is closed', async () => {
    const backend = new FakeBackend();
    const sessions = new Sessions();
    const opening = sessions.open(async () => {
      await sessions.close();
      return await backend.create({});
    });
    await expect(opening).rejects.toMatchObject({ code: 'gone' });
    expect(backend.made[0]?.isDisposed).toBe(true);
  });
});
