import { AssayError } from '../core/errors.ts';
import { readBounded } from './bounded-file.ts';

/** A list of signers may be long; nothing that holds keys is longer than this. */
const MAX_BYTES = 1024 * 1024;

export function readKeyFile(file: string): string {
  try {
    const content = readBounded(file, MAX_BYTES);
    if (content.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    return content.toString('utf8');
  } catch (cause) {
    throw new AssayError('E_KEY', `Cannot read the key "${file}": ${(cause as Error).message}`, {
      hint: 'Name a key file; assay keygen FILE makes a pair',
      cause,
    });
  }
}
