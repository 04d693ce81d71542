import { concatBytes, decodeLatin1, encodeLatin1 } from '../../core/bytes.ts';

/** A member of a tar archive starts with a header of one block, and is filled up with zeros to whole blocks. */
export const BLOCK_BYTES = 512;

const OWNER = 'assay';
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;

/** The header that assay writes: the same for the same name and size, whoever writes it and when. */
export function makeTarHeader(name: string, size: number): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  const write = (text: string, at: number): void => block.set(encodeLatin1(text), at);
  write(name, 0);
  write('0000644\0', 100);
  write('0000000\0', 108);
  write('0000000\0', 116);
  write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  write('00000000000\0', 136);
  write('ustar  \0', 257);
  write(OWNER, 265);
  write(OWNER, 297);
  write(`${sumHeader(block).toString(8).padStart(7, '0')}\0`, CHECKSUM_AT);
  return block;
}

/** With spaces where the checksum itself stands. */
export function sumHeader(block: Uint8Array): number {
  let sum = CHECKSUM_BYTES * 0x20;
  for (const byte of block) sum += byte;
  for (const byte of block.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES)) sum -= byte;
  return sum;
}

/** How many zeros follow so many bytes. */
export function paddingAfter(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

export interface TarHeader {
  readonly name: Uint8Array;
  readonly size: number | undefined;
  readonly checksum: number | undefined;
  readonly type: string;
  /** Nothing but zeros follows the name in its field. */
  readonly isNameClean: boolean;
}

export function parseTarHeader(block: Uint8Array): TarHeader {
  const text = (from: number, to: number): string => decodeLatin1(block.subarray(from, to));
  const name = untilZero(block.subarray(0, 100));
  // Only POSIX archives have a second part of the name there; GNU's have times.
  const prefix =
    text(257, 265) === 'ustar\u000000' ? untilZero(block.subarray(345, 500)) : new Uint8Array(0);
  return {
    name: prefix.length > 0 ? concatBytes([prefix, encodeLatin1('/'), name]) : name,
    size: parseOctal(text(124, 136)),
    checksum: parseOctal(text(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES)),
    type: text(156, 157),
    isNameClean: block.subarray(name.length, 100).every((byte) => byte === 0),
  };
}

function untilZero(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

/** Digits, perhaps with spaces before, and spaces or zeros behind. GNU's binary numbers are for sizes no bundle has. */
function parseOctal(field: string): number | undefined {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(field)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}
