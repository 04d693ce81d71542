import { writeSync } from 'node:fs';

/**
 * A reader that has seen enough, such as `head`, is no error, and `onGone` says what to do. One that is slow sets the pace: otherwise node would keep
 * what a full pipe does not take in memory, and drop it at the end.
 */
export function writeAtPaceOfReader(onGone: () => void): void {
  const stdout = process.stdout as unknown as {
    _handle?: { setBlocking?: (isBlocking: boolean) => void };
    _write: (chunk: Uint8Array, encoding: string, done: (error?: unknown) => void) => void;
  };
  stdout._handle?.setBlocking?.(true);
  if (!stdout._handle) stdout._write = writeWhole;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') onGone();
    // Whatever else it is, requireWritten() tells.
  });
}

/** A disk that is nearly full takes a part, which node takes for all of it. */
function writeWhole(chunk: Uint8Array, _: string, done: (error?: unknown) => void): void {
  try {
    for (let at = 0; at < chunk.length;) at += writeSync(process.stdout.fd, chunk, at);
  } catch (error) {
    done(error);
    return;
  }
  done();
}

/** Throws what kept something from being written. A command that was not heard has not succeeded. */
export function requireWritten(): void {
  const { errored } = process.stdout;
  if (errored && (errored as NodeJS.ErrnoException).code !== 'EPIPE') throw errored;
}
