import type { Duplex } from 'node:stream';

/** Hands bytes on from one stream to the other, no faster than they are taken. Returns how to stop doing so. */
export function pump(from: Duplex, to: Duplex): () => void {
  const onData = (bytes: Buffer): void => {
    if (to.writable && !to.write(bytes)) from.pause();
  };
  const onDrain = (): void => void from.resume();
  const onEnd = (): void => {
    if (to.writable) to.end();
  };
  from.on('data', onData);
  from.on('end', onEnd);
  to.on('drain', onDrain);
  from.resume();
  return () => {
    from.pause();
    from.off('data', onData);
    from.off('end', onEnd);
    to.off('drain', onDrain);
  };
}

/**
 * When one side breaks off the other does; when one has closed in order the other has been told by then. Returns how to
 * untie them.
 */
export function tieTogether(one: Duplex, other: Duplex): () => void {
  const tie = (from: Duplex, to: Duplex): (() => void) => {
    const onError = (): void => reset(to);
    const onClose = (): void => {
      if (!from.readableEnded) reset(to);
    };
    from.on('error', onError);
    from.on('close', onClose);
    return () => {
      from.off('error', onError);
      from.off('close', onClose);
    };
  };
  const unties = [tie(one, other), tie(other, one)];
  return () => unties.forEach((untie) => untie());
}

/** With RST where the stream can, so that the other end sees that it was cut, and not that it was over. */
export function reset(stream: Duplex & { resetAndDestroy?: (() => unknown) | undefined }): void {
  if (stream.destroyed) return;
  // While an end is on its way libuv refuses to reset, and node then never tells that the socket has closed.
  const isEnding = stream.writableEnded && !stream.writableFinished;
  try {
    if (stream.resetAndDestroy && !isEnding) stream.resetAndDestroy();
    else stream.destroy();
  } catch {
    stream.destroy();
  }
}

/** What is not read when a connection is closed makes a reset of it, which can overtake the last words. */
const LINGER_MS = 2000;

/** Says the last words, and reads over what still comes until they have been taken. */
export function endWith(stream: Duplex, words: Buffer | string): void {
  if (stream.destroyed) return;
  const linger = (): void => {
    const timer = setTimeout(() => stream.destroy(), LINGER_MS);
    stream.once('close', () => clearTimeout(timer));
  };
  if (stream.writableFinished) linger();
  else stream.once('finish', linger);
  if (stream.writable) stream.end(words);
  stream.resume();
}
