import { isAscii, isUtf8 } from 'node:buffer';

/** The text, or undefined for bytes that are not UTF-8; a byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Most texts are plain, and those need no decoding.
  if (isAscii(buffer)) return buffer.toString('latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : undefined;
}
