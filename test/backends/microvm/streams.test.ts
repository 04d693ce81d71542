import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { describe, expect, it } from 'vitest';

import type { GuestLink } from '../../../src/backends/microvm/guest-link.ts';
import { GuestStream } from '../../../src/backends/microvm/guest-stream.ts';
import { StdinQueue } from '../../../src/backends/microvm/stdin-queue.ts';

const WINDOW = 256 * 1024;

describe('StdinQueue', () => {
  it('sends no more than is granted, in order, and then the end', async () => {
    const sent: Uint8Array[] = [];
    let ends = 0;
    const queue = new StdinQueue(
      (chunk) => void sent.push(chunk),
      () => void (ends += 1),
    );
    const data = Buffer.from(Array.from({ length: WINDOW + 1000 }, (_, index) => index % 251));
    let isWritten = false;
    const written = queue.write(data).then(() => (isWritten = true));
    queue.end();
    await Promise.resolve();
    expect(Buffer.concat(sent).length).toBe(WINDOW);
    expect([isWritten, ends]).toEqual([false, 0]);
    expect(queue.grant(600)).toBe(true);
    expect(ends).toBe(0);
    expect(queue.grant(600)).toBe(true);
    await written;
    expect(Buffer.concat(sent).equals(data)).toBe(true);
    expect(sent.every((chunk) => chunk.length <= 64 * 1024)).toBe(true);
    expect(ends).toBe(1);
  });

  it('says when more is granted than was sent', () => {
    const queue = new StdinQueue(
      () => undefined,
      () => undefined,
    );
    expect(queue.grant(1)).toBe(false);
  });

  it('lets a writer go when the program has ended', async () => {
    const queue = new StdinQueue(
      () => undefined,
      () => undefined,
    );
    const written = queue.write(Buffer.alloc(2 * WINDOW));
    queue.stop();
    await written;
    await queue.write(Buffer.from('more'));
  });
});

interface Sent {
  readonly type: string;
  readonly payload: Uint8Array;
}

function makeStream(): {
  stream: GuestStream;
  sent: Sent[];
  credits: number[];
  forgotten: () => number;
} {
  const sent: Sent[] = [];
  const credits: number[] = [];
  let forgotten = 0;
  const link = {
    send: (type: string, _id: number, payload: Uint8Array = Buffer.alloc(0)) =>
      void sent.push({ type, payload }),
    sendNumber: (_type: string, _id: number, value: number) => void credits.push(value),
  } as unknown as GuestLink;
  const stream = new GuestStream({ link, id: 1, forget: () => void (forgotten += 1) });
  return { stream, sent, credits, forgotten: () => forgotten };
}

describe('GuestStream', () => {
  it('waits for the guest to take what it has sent', async () => {
    const { stream, sent } = makeStream();
    const size = (): number => sent.reduce((sum, { payload }) => sum + payload.length, 0);
    stream.end(Buffer.alloc(WINDOW + 5));
    expect(size()).toBe(WINDOW);
    stream.hearCredit(5);
    await once(stream, 'finish');
    expect(size()).toBe(WINDOW + 5);
    expect(sent.at(-1)?.type).toBe('netEnd');
  });

  it('grants what has been read, and no more', async () => {
    const { stream, credits } = makeStream();
    stream.hearData(Buffer.from('abc'));
    stream.hearData(Buffer.from('def'));
    stream.hearEnd();
    expect(await text(stream)).toBe('abcdef');
    expect(credits.reduce((sum, value) => sum + value, 0)).toBeLessThanOrEqual(6);
  });

  it('refuses more than it has granted', () => {
    const { stream } = makeStream();
    const flood = (): void => {
      for (let index = 0; index < 20; index++) stream.hearData(Buffer.alloc(64 * 1024));
    };
    expect(flood).toThrow('beyond what was granted');
    expect(() => makeStream().stream.hearCredit(1)).toThrow('more taken than was sent');
  });

  it('tells the guest that it was cut, but not what has ended in order', async () => {
    const cut = makeStream();
    cut.stream.destroy();
    await once(cut.stream, 'close');
    expect(cut.sent.map(({ type }) => type)).toEqual(['netReset']);
    expect(cut.forgotten()).toBe(1);
    const whole = makeStream();
    whole.stream.resume().end('bye');
    whole.stream.hearEnd();
    await once(whole.stream, 'close');
    expect(whole.sent.map(({ type }) => type)).toEqual(['netData', 'netEnd']);
    const heard = makeStream();
    const closed = new Promise((resolve) => heard.stream.once('close', resolve));
    heard.stream.on('error', () => undefined).hearReset();
    await closed;
    expect(heard.sent).toEqual([]);
  });
});
