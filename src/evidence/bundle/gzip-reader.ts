import { areEqualBytes } from '../../core/bytes.ts';
import { crc32, Inflater } from '../../core/inflate.ts';
import { BundleError } from './bundle-error.ts';
import { ByteSource } from './byte-source.ts';
import type { BundleLimits } from './limits.ts';

/** What assay writes: no flags, no time, best compression, no system. */
export const PLAIN_GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255);

const FLAG_HEADER_CRC = 2;
const FLAG_EXTRA = 4;
const FLAG_NAME = 8;
const FLAG_COMMENT = 16;
const FLAGS_RESERVED = 0xe0;
/** Of a name or a comment, which assay does not write. */
const MAX_TEXT_BYTES = 4096;

export interface GzipStream {
  /** The decoded bytes. Throws a BundleError at the first thing that is wrong. */
  readonly decoded: AsyncGenerator<Uint8Array>;
  /** Whether the header is the one that assay writes. Known once the first decoded bytes are there. */
  readonly isPlainHeader: () => boolean;
}

/**
 * One gzip member and nothing after it. zlib's own reader would also take several members, and ignore what follows the
 * last one; so only the deflate stream is left to it.
 */
export function readGzip(chunks: AsyncIterable<Uint8Array>, limits: BundleLimits): GzipStream {
  const source = new ByteSource(chunks);
  const inflater = new Inflater();
  let isPlain = false;
  async function* decode(): AsyncGenerator<Uint8Array> {
    try {
      isPlain = await skipHeader(source);
      const meter = new Meter(limits);
      for await (const piece of inflate(source, inflater, meter)) yield meter.count(piece);
      await checkTrailer(source, meter);
      await refuseMore(source);
    } finally {
      inflater.close();
      await source.close();
    }
  }
  return { decoded: decode(), isPlainHeader: () => isPlain };
}

/** What came out so far, and what it cost. */
class Meter {
  readonly #limits: BundleLimits;
  bytesIn = 0;
  bytesOut = 0;
  crc = 0;

  constructor(limits: BundleLimits) {
    this.#limits = limits;
  }

  count(piece: Uint8Array): Uint8Array {
    this.bytesOut += piece.length;
    this.crc = crc32(piece, this.crc);
    const { decodedBytes, ratio, ratioFromBytes } = this.#limits;
    if (this.bytesOut > decodedBytes)
      throw new BundleError('LimitDecodeBytes', `It decodes to more than ${decodedBytes} bytes`);
    if (this.bytesOut > ratioFromBytes + ratio * this.bytesIn)
      throw new BundleError('LimitRatio', `It decodes to more than ${ratio} times its size`);
    return piece;
  }
}

/** Leaves the source behind the deflate stream. */
async function* inflate(
  source: ByteSource,
  inflater: Inflater,
  meter: Meter,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = await source.read();
    if (!chunk) {
      const { output } = await tryInflate(() => inflater.finish());
      yield* output;
      return;
    }
    const steps = inflater.push(chunk);
    for (;;) {
      const step = await tryInflate(() => steps.next());
      if (step.done === true) break;
      const { output, bytes, rest } = step.value;
      meter.bytesIn += bytes;
      yield* output;
      if (!rest) continue;
      source.unread(rest);
      return;
    }
  }
}

async function tryInflate<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    // No progress is possible, since there is no more input.
    if ((cause as { code?: unknown }).code === 'Z_BUF_ERROR')
      throw truncated('The compressed data end too early');
    const { message } = cause as Error;
    throw new BundleError('IntegrityGzip', `The compressed data are damaged: ${message}`);
  }
}

/** RFC 1952, section 2.3. Returns whether it is the one that assay writes. */
async function skipHeader(source: ByteSource): Promise<boolean> {
  const start = await source.read();
  if (!start) throw new BundleError('IntegrityGzip', 'It is empty');
  source.unread(start);
  if (start[0] !== 0x1f || (start.length > 1 && start[1] !== 0x8b))
    throw new BundleError('IntegrityGzip', 'It is not a gzip file');
  const header = await readPart(source, PLAIN_GZIP_HEADER.length);
  const [, second, method, flags = 0] = header;
  if (second !== 0x8b) throw new BundleError('IntegrityGzip', 'It is not a gzip file');
  if (method !== 8 || (flags & FLAGS_RESERVED) !== 0)
    throw new BundleError(
      'IntegrityGzip',
      'The gzip header has a method or a flag that is not known',
    );
  if ((flags & FLAG_EXTRA) !== 0) {
    const [low = 0, high = 0] = await readPart(source, 2);
    await readPart(source, low + 256 * high);
  }
  if ((flags & FLAG_NAME) !== 0) await skipText(source);
  if ((flags & FLAG_COMMENT) !== 0) await skipText(source);
  if ((flags & FLAG_HEADER_CRC) !== 0) await readPart(source, 2);
  return areEqualBytes(header, PLAIN_GZIP_HEADER);
}

async function readPart(source: ByteSource, length: number): Promise<Uint8Array> {
  const bytes = await source.readExactly(length);
  if (!bytes) throw truncated('The gzip header ends too early');
  return bytes;
}

async function skipText(source: ByteSource): Promise<void> {
  for (let length = 0; length < MAX_TEXT_BYTES; length += 1) {
    const [byte] = await readPart(source, 1);
    if (byte === 0) return;
  }
  throw new BundleError('IntegrityGzip', 'The gzip header has a name that is too long');
}

async function checkTrailer(source: ByteSource, { crc, bytesOut }: Meter): Promise<void> {
  const trailer = await source.readExactly(8);
  if (!trailer) throw truncated('The checksum at the end is missing');
  const view = new DataView(trailer.buffer, trailer.byteOffset, trailer.byteLength);
  if (view.getUint32(0, true) !== crc)
    throw new BundleError('IntegrityGzipCrc', 'The checksum of the compressed data is wrong');
  if (view.getUint32(4, true) !== bytesOut % 2 ** 32)
    throw new BundleError('IntegrityGzipSize', 'The length of the compressed data is wrong');
}

async function refuseMore(source: ByteSource): Promise<void> {
  const more = await source.read();
  if (!more) return;
  throw more[0] === 0x1f
    ? new BundleError('ContractConcatenated', 'Another gzip stream follows the first one')
    : new BundleError('ContractTrailingData', 'Something follows the gzip stream');
}

function truncated(message: string): BundleError {
  return new BundleError('IntegrityGzipTruncated', message);
}
