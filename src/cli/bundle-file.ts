import { createReadStream } from 'node:fs';
import { AssayError } from '../core/errors.ts';
import { BundleError } from '../evidence/bundle/bundle-error.ts';
import {
  verifyBundle,
  type VerifiedBundle,
  type VerifyOptions,
} from '../evidence/bundle/verify-bundle.ts';

const CHUNK_BYTES = 256 * 1024;

interface ScanOptions extends VerifyOptions {
  /** For whoever keeps the bytes as well. */
  readonly onChunk?: ((chunk: Uint8Array) => void) | undefined;
}

/** Verifies the bundle at a path, or on standard input for `-`. A failure names it. */
export async function scanBundle(path: string, options: ScanOptions = {}): Promise<VerifiedBundle> {
  try {
    return await verifyBundle(readBundleFile(path, options.onChunk), options);
  } catch (error) {
    if (error instanceof BundleError) error.file = nameBundle(path);
    throw error;
  }
}

/** As it is called in what people read. */
export function nameBundle(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** Its bytes. What goes wrong is a BundleError. */
export async function* readBundleFile(
  path: string,
  onChunk?: ScanOptions['onChunk'],
): AsyncGenerator<Uint8Array> {
  const stream =
    path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    for await (const chunk of stream) {
      onChunk?.(chunk as Uint8Array);
      yield chunk as Uint8Array;
    }
  } catch (cause) {
    if (cause instanceof AssayError) throw cause;
    throw new BundleError(
      'IntegrityIo',
      describe(cause as NodeJS.ErrnoException),
      undefined,
      cause,
    );
  }
}

function describe({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'There is no such file';
  if (code === 'EISDIR') return 'It is a directory';
  if (code === 'EACCES' || code === 'EPERM') return 'It may not be read';
  return `It cannot be read: ${message}`;
}
