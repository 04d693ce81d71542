import type { Duplex } from 'node:stream';
import { type ByteReader, send } from './byte-reader.ts';
import type { Framing } from './http-head.ts';

/** `broken`: the sender broke off or the framing; `gone`: the receiver is not there any more. */
export type BodyEnd = 'whole' | 'broken' | 'gone';

/** A size of eight digits, and nothing behind it. */
const MAX_SIZE_LINE = 8;
/** Of what a server may add behind the size, and of fields behind the last chunk: they are read over. */
const MAX_LENIENT_LINE = 4096;
const MAX_TRAILERS = 64;

/**
 * Hands one body on. Chunks are taken apart and written anew, so that both ends count the same bytes; extensions and
 * trailers are left out. A request's chunks may have neither.
 */
export async function sendBody(
  from: ByteReader,
  to: Duplex,
  { framing, isRequest }: { readonly framing: Framing; readonly isRequest: boolean },
): Promise<BodyEnd> {
  if (framing.kind === 'none') return 'whole';
  if (framing.kind === 'length') return sendCounted(from, to, framing.length);
  if (framing.kind === 'chunked') return sendChunks(from, to, isRequest);
  while (await from.some()) {
    if (!(await send(to, from.take(from.bytes.length)))) return 'gone';
  }
  return from.stream.readableEnded ? 'whole' : 'broken';
}

async function sendCounted(from: ByteReader, to: Duplex, count: number): Promise<BodyEnd> {
  let left = count;
  while (left > 0) {
    if (!(await from.some())) return 'broken';
    const part = from.take(left);
    left -= part.length;
    if (!(await send(to, part))) return 'gone';
  }
  return 'whole';
}

async function sendChunks(from: ByteReader, to: Duplex, isRequest: boolean): Promise<BodyEnd> {
  for (;;) {
    const line = await readLine(from, isRequest ? MAX_SIZE_LINE : MAX_LENIENT_LINE);
    const [, digits] = (isRequest ? STRICT_SIZE : SIZE).exec(line ?? '') ?? [];
    if (digits === undefined) return 'broken';
    const size = Number.parseInt(digits, 16);
    if (size === 0) break;
    let left = size;
    while (left > 0) {
      if (!(await from.some())) return 'broken';
      const part = from.take(left);
      left -= part.length;
      to.cork();
      to.write(`${part.length.toString(16)}\r\n`);
      to.write(part);
      const sent = send(to, '\r\n');
      to.uncork();
      if (!(await sent)) return 'gone';
    }
    if ((await readLine(from, 0)) !== '') return 'broken';
  }
  if (!(await skipTrailers(from, isRequest))) return 'broken';
  return (await send(to, '0\r\n\r\n')) ? 'whole' : 'gone';
}

const STRICT_SIZE = /^([0-9A-Fa-f]{1,8})$/;
const SIZE = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/;

async function skipTrailers(from: ByteReader, isRequest: boolean): Promise<boolean> {
  for (let count = 0; count <= MAX_TRAILERS; count++) {
    const line = await readLine(from, isRequest ? 0 : MAX_LENIENT_LINE);
    if (line === '') return true;
    if (line === undefined) return false;
  }
  return false;
}

/** A line that ends with CR LF, without them; undefined when it is longer, or none. */
async function readLine(from: ByteReader, max: number): Promise<string | undefined> {
  for (;;) {
    const at = from.bytes.indexOf(0x0a);
    if (at >= 0) {
      if (at < 1 || at - 1 > max || from.bytes[at - 1] !== 0x0d) return undefined;
      const line = from.take(at + 1).toString('latin1', 0, at - 1);
      return line.includes('\r') ? undefined : line;
    }
    if (from.bytes.length > max + 1 || !(await from.more())) return undefined;
  }
}
