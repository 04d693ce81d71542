import type { Duplex } from 'node:stream';
import { type ByteReader, send } from './byte-reader.ts';
import { type Field, type Framing, keepFields, parseFields, writeHead } from './http-head.ts';

/** `broken`: the sender broke off or the framing; `gone`: the receiver is not there any more. */
export type BodyEnd = 'whole' | 'broken' | 'gone';

/** A size of eight digits, and nothing behind it. */
const MAX_SIZE_LINE = 8;
/** Of what a server may add behind the size, which is read over, and of a field behind the last chunk. */
const MAX_LENIENT_LINE = 4096;
const MAX_TRAILERS = 64;

/**
 * Hands one body on. Chunks are taken apart and written anew, so that both ends count the same bytes; extensions
 * are left out, and trailers that say something of the connection or the framing. A request's chunks may have neither.
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
  const trailers = await readTrailers(from, isRequest);
  if (!trailers) return 'broken';
  return (await send(to, writeHead('0', trailers))) ? 'whole' : 'gone';
}

const STRICT_SIZE = /^([0-9A-Fa-f]{1,8})$/;
const SIZE = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/;

/** Undefined when they are not well formed. */
async function readTrailers(from: ByteReader, isRequest: boolean): Promise<Field[] | undefined> {
  const lines: string[] = [];
  while (lines.length <= MAX_TRAILERS) {
    const line = await readLine(from, isRequest ? 0 : MAX_LENIENT_LINE);
    if (line === undefined) return undefined;
    if (line === '') {
      const fields = parseFields(lines);
      return 'problem' in fields ? undefined : keepFields(fields);
    }
    lines.push(line);
  }
  return undefined;
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
