import { createHash, randomBytes } from 'node:crypto';
import { constants, crc32 as nodeCrc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256HexOf } from '../../../src/artifacts/page/platform/digest.ts';
import { crc32, Inflater } from '../../../src/artifacts/page/platform/inflate.ts';
import { decodeUtf8 } from '../../../src/artifacts/page/platform/utf8.ts';

async function inflate(bytes: Uint8Array): Promise<{ output: Buffer; rest: Buffer | undefined }> {
  const output: Uint8Array[] = [];
  let rest: Buffer | undefined;
  for await (const step of new Inflater().push(bytes)) {
    output.push(...step.output);
    if (step.rest) rest = Buffer.from(step.rest);
  }
  return { output: Buffer.concat(output), rest };
}

function tryInflate(bytes: Uint8Array): string | undefined {
  try {
    return inflateRawSync(bytes).toString('hex');
  } catch {
    return undefined;
  }
}

describe('SHA-256 of the page', () => {
  it('is that of node, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (parts) => {
        const wanted = createHash('sha256').update(Buffer.concat(parts)).digest('hex');
        expect(sha256HexOf(parts)).toBe(wanted);
      }),
    );
  });

  it('takes text as UTF-8', () => {
    expect(sha256HexOf(['ä€😀'])).toBe(createHash('sha256').update('ä€😀').digest('hex'));
  });
});

describe('decompression of the page', () => {
  const text = Buffer.from('{"path":"${CWD}/src/a.ts","op":"read"}\n'.repeat(20_000));
  it.each([
    ['text', text, {}],
    ['text, stored', text, { level: 0 }],
    ['text with fixed codes', text.subarray(0, 4000), { strategy: constants.Z_FIXED }],
    ['text without matches', text.subarray(0, 40_000), { strategy: constants.Z_HUFFMAN_ONLY }],
    ['zeros', Buffer.alloc(1_000_000), { level: 9 }],
    ['noise', randomBytes(500_000), {}],
    ['nothing', Buffer.alloc(0), {}],
  ])('gives back %s, and says where it ends', async (_name, content, options) => {
    const bytes = Buffer.concat([deflateRawSync(content, options), Buffer.from('behind')]);
    const { output, rest } = await inflate(bytes);
    expect(output.equals(content)).toBe(true);
    expect(rest?.toString()).toBe('behind');
  });

  it('says of a stream that is cut off that it is, wherever that is', async () => {
    const whole = deflateRawSync(randomBytes(300).toString('hex'));
    for (let length = 0; length < whole.length; length += 7)
      await expect(inflate(whole.subarray(0, length))).rejects.toMatchObject({
        code: 'Z_BUF_ERROR',
      });
  });

  it('takes and refuses what zlib takes and refuses, damaged or not', async () => {
    const streams = [
      deflateRawSync(randomBytes(200).toString('hex')),
      deflateRawSync(Buffer.alloc(300)),
      deflateRawSync('ab'.repeat(40), { strategy: constants.Z_FIXED }),
    ];
    const seen = { taken: 0, refused: 0 };
    for (let at = 0; at < 6000; at += 1) {
      const bytes = Buffer.from(
        at % 4 === 3 ? randomBytes(30) : (streams[at % 3] ?? Buffer.alloc(0)),
      );
      const place = Math.floor(Math.random() * bytes.length);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << (at % 8));
      const wanted = tryInflate(bytes);
      const output = await inflate(bytes).then(
        (result) => result.output.toString('hex'),
        () => undefined,
      );
      expect(output, bytes.toString('hex')).toBe(wanted);
      seen[wanted === undefined ? 'refused' : 'taken'] += 1;
    }
    expect(seen.taken).toBeGreaterThan(300);
    expect(seen.refused).toBeGreaterThan(300);
  });

  it('has the checksum of zlib', () => {
    const bytes = randomBytes(1000);
    expect(crc32(bytes)).toBe(nodeCrc32(bytes));
    expect(crc32(bytes.subarray(400), crc32(bytes.subarray(0, 400)))).toBe(nodeCrc32(bytes));
  });
});

describe('text of the page', () => {
  it('is UTF-8 or nothing, and keeps a byte order mark', () => {
    expect(decodeUtf8(Buffer.from('\ufeffä'))).toBe('\ufeffä');
    expect(decodeUtf8(Uint8Array.of(0xc3))).toBeUndefined();
    expect(decodeUtf8(Uint8Array.of(0xed, 0xa0, 0x80))).toBeUndefined();
  });
});
