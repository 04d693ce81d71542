import { Sha256 } from './sha256.ts';

/*
 * Stands in for src/core/digest.ts in the page, where there is no node:crypto.
 */

export function sha256Hex(content: string | Uint8Array): string {
  return sha256HexOf([content]);
}

export function sha256HexOf(parts: Iterable<string | Uint8Array>): string {
  const hash = openSha256();
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

export function openSha256(): Sha256 {
  return new Sha256();
}

export function makeSha256(): (text: string) => string {
  const sha256 = new Sha256();
  return (text) => sha256.update(text).digest('hex');
}
