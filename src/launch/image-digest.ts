import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What is known of an image from when it ran. */
export interface KnownImage {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

const CHUNK_BYTES = 1 << 20;

/** SHA-256 of an image, if the file is still the one that ran; undefined if it is not, or may not be read. */
export function digestImage(host: Buffer, known: KnownImage): string | undefined {
  let fd: number;
  try {
    fd = openSync(host, 'r');
  } catch {
    return undefined;
  }
  try {
    if (!isTheOne(fd, known)) return undefined;
    const digest = hashFile(fd);
    return isTheOne(fd, known) ? digest : undefined;
  } finally {
    closeSync(fd);
  }
}

function isTheOne(fd: number, known: KnownImage): boolean {
  const now = fstatSync(fd, { bigint: true });
  return (
    String(now.dev) === known.dev &&
    String(now.ino) === known.ino &&
    String(now.size) === known.size &&
    String(now.mtimeNs) === known.mtimeNs &&
    String(now.ctimeNs) === known.ctimeNs
  );
}

function hashFile(fd: number): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let got = readSync(fd, bytes); got > 0; got = readSync(fd, bytes))
    hash.update(bytes.subarray(0, got));
  return hash.digest('hex');
}
