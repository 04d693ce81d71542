import { isUtf8 } from 'node:buffer';

/** The text, or undefined for bytes that are not UTF-8; a byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
