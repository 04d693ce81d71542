import { AssayError } from '../errors.ts';

/** What can be done with a key that has the wrong algorithm. */
export const MAKE_A_KEY = 'Make an Ed25519 key: assay keygen FILE, or ssh-keygen -t ed25519';

export function refuseKey(file: string, reason: string, hint: string, cause?: unknown): AssayError {
  return new AssayError('E_KEY', `Cannot use "${file}" as a key: ${reason}`, { hint, cause });
}
