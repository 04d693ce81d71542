/** SHA-256 in lower-case hex. Text counts as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return sha256HexOf([content]);
}

/** The digest of all parts one after the other, so that a long text need not exist as a whole. */
export function sha256HexOf(parts: Iterable<string | Uint8Array>): string {
  // Loaded here, since the start of a run needs no hash and the module takes its time.
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
