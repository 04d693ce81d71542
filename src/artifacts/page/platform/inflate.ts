import { InflateEnd, RawInflater } from './raw-inflate.ts';

/*
 * Stands in for src/core/inflate.ts in the page, where there is no node:zlib. The page has the whole archive at hand and
 * gives it as one chunk.
 */

export interface InflateStep {
  readonly output: readonly Uint8Array[];
  readonly bytes: number;
  readonly rest?: Uint8Array | undefined;
}

/** Between two moments in which the browser may do something else. */
const BUSY_MS = 40;

export class Inflater {
  async *push(bytes: Uint8Array): AsyncGenerator<InflateStep> {
    const inflater = new RawInflater(bytes, 0);
    let at = 0;
    let pausedMs = performance.now();
    try {
      for (const piece of inflater.read()) {
        const took = inflater.end - at;
        at = inflater.end;
        yield { output: [piece], bytes: took };
        if (performance.now() - pausedMs < BUSY_MS) continue;
        await pause();
        pausedMs = performance.now();
      }
    } catch (error) {
      throw error instanceof InflateEnd ? Object.assign(error, { code: 'Z_BUF_ERROR' }) : error;
    }
    yield { output: [], bytes: inflater.end - at, rest: bytes.subarray(inflater.end) };
  }

  finish(): Promise<InflateStep> {
    throw Object.assign(new InflateEnd('the stream ends too early'), { code: 'Z_BUF_ERROR' });
  }

  close(): void {
    // Nothing is held.
  }
}

/** By a message to itself: timers come once a second in a page that is not in front. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}

/** By the bytes of a CRC, reflected: RFC 1952, section 8. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

export function crc32(bytes: Uint8Array, start = 0): number {
  let crc = ~start;
  for (let at = 0; at < bytes.length; at += 1)
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
