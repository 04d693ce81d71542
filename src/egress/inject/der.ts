/*
 * The few forms of DER (X.690) that a certificate is made of. Everything is written with its shortest length, as DER wants.
 */

/** One element: its tag, its length and what is in it. */
export function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(body.length)]), body]);
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left >>>= 8) bytes.unshift(left & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return encode(0x30, ...items);
}

export function setOf(item: Uint8Array): Buffer {
  return encode(0x31, item);
}

/** Of a positive number, as its bytes; the highest bit would be a sign. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const kept = bytes.subarray(from);
  return encode(0x02, Buffer.from((kept[0] ?? 0) & 0x80 ? [0] : []), kept);
}

export function boolean(value: boolean): Buffer {
  return encode(0x01, Buffer.from([value ? 0xff : 0]));
}

export function octets(bytes: Uint8Array): Buffer {
  return encode(0x04, bytes);
}

/** Whole bytes. */
export function bits(bytes: Uint8Array): Buffer {
  return encode(0x03, Buffer.from([0]), bytes);
}

/** Bits by name, of which the last one that is set is the last one written (X.690, 11.2.2). */
export function namedBits(byte: number): Buffer {
  let unused = 0;
  while (unused < 7 && (byte & (1 << unused)) === 0) unused++;
  return encode(0x03, Buffer.from([unused, byte]));
}

export function utf8(text: string): Buffer {
  return encode(0x0c, Buffer.from(text));
}

/** `1.2.840.10045.4.3.2` */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
    return digits;
  });
  return encode(0x06, Buffer.from(bytes));
}

/** UTCTime until 2049 and GeneralizedTime from then on (RFC 5280, 4.1.2.5). */
export function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;
  return ms < Date.UTC(2050)
    ? encode(0x17, Buffer.from(text.slice(2)))
    : encode(0x18, Buffer.from(text));
}

/** `[number]`: with other elements in it when it is constructed. */
export function tagged(number: number, content: Uint8Array, isConstructed: boolean): Buffer {
  return encode(0x80 | (isConstructed ? 0x20 : 0) | number, content);
}
