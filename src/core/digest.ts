/** SHA-256 in lower-case hex. Text counts as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return sha256HexOf([content]);
}

/** The digest of all parts one after the other, so that a long text need not exist as a whole. */
export function sha256HexOf(parts: Iterable<string | Uint8Array>): string {
  const hash = openSha256();
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** For parts that come one at a time. */
export function openSha256(): OpenHash {
  // Loaded here, since the start of a run needs no hash and the module takes its time.
  return process.getBuiltinModule('node:crypto').createHash('sha256');
}

export interface OpenHash {
  update(part: string | Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}

/** For many short texts: no object is made for each. */
export function makeSha256(): (text: string) => string {
  const { hash } = process.getBuiltinModule('node:crypto');
  return (text) => hash('sha256', text, 'hex');
}
