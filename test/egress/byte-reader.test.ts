import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ByteReader, send } from '../../src/egress/byte-reader.ts';

const tick = async (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

it('a reader that only watches keeps little', async () => {
  const stream = new PassThrough();
  const reader = new ByteReader(stream);
  for (let count = 0; count < 50; count++) {
    stream.write(Buffer.alloc(1000, count));
    reader.watch();
    await tick();
  }
  expect(reader.bytes.length).toBe(17_000);
  expect(reader.take(1)[0]).toBe(0);
});

it('more() ends at the end, after a deadline, and when the stream is left to others', async () => {
  const ended = new ByteReader(new PassThrough().end());
  expect(await ended.more()).toBe(false);
  const late = new ByteReader(new PassThrough());
  late.setDeadline(10);
  expect(await late.more()).toBe(false);
  expect(late.isTimedOut).toBe(true);
  const left = new ByteReader(new PassThrough());
  const waiting = left.more();
  left.detach();
  expect(await waiting).toBe(false);
  const gone = new PassThrough();
  gone.destroy();
  expect(await new ByteReader(gone).more()).toBe(false);
});

it('send() waits for a stream that is full, and says when it is gone', async () => {
  const stream = new PassThrough({ highWaterMark: 10 });
  let isSent = false;
  const sending = send(stream, Buffer.alloc(100)).then((isThere) => {
    isSent = true;
    return isThere;
  });
  await tick();
  expect(isSent).toBe(false);
  stream.resume();
  expect(await sending).toBe(true);
  stream.pause();
  const last = send(stream, Buffer.alloc(100));
  stream.destroy();
  expect(await last).toBe(false);
  expect(await send(stream, 'x')).toBe(false);
});
