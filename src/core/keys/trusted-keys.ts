import { createPublicKey } from 'node:crypto';
import { findAllowedSigners } from './allowed-signers.ts';
import {
  findPointProblem,
  POINT_BYTES,
  type PublicKey,
  SPKI_PREFIX,
  toPublicKey,
} from './ed25519.ts';
import { MAKE_A_KEY, refuseKey } from './key-error.ts';

/** A public key that was given to trust, never one that came with what is to be verified. */
export interface TrustedKey extends PublicKey {
  readonly file: string;
  /** The principal or the comment beside it; may be empty. */
  readonly name: string;
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/** Every key in a file: PEM, a line of a .pub file of OpenSSH, or an allowed_signers file. */
export function parseTrustedKeys(
  text: string,
  { file, now }: { readonly file: string; readonly now: Date },
): readonly TrustedKey[] {
  const found = text.includes('-----BEGIN')
    ? Array.from(text.matchAll(PEM_BLOCK), ([block, label = '']) => ({
        point: readPem(block, label, file),
        name: '',
      }))
    : findAllowedSigners(text, { file, now });
  if (found.length === 0) throw refuseKey(file, 'there is no key in it', MAKE_A_KEY);
  return found.map(({ point, name }) => {
    const problem = findPointProblem(point);
    if (problem !== undefined) throw refuseKey(file, problem, MAKE_A_KEY);
    return { ...toPublicKey(point), file, name };
  });
}

function readPem(block: string, label: string, file: string): Buffer {
  if (label.endsWith('PRIVATE KEY'))
    throw refuseKey(
      file,
      'it is a private key',
      'Verify with the public one, which is in the file that ends in .pub',
    );
  if (label !== 'PUBLIC KEY')
    throw refuseKey(file, `a ${label} is not a public key`, 'openssl pkey -pubout writes one');
  let spki: Buffer;
  try {
    spki = createPublicKey(block).export({ format: 'der', type: 'spki' });
  } catch (cause) {
    throw refuseKey(file, 'its PEM cannot be read', MAKE_A_KEY, cause);
  }
  if (
    spki.length !== SPKI_PREFIX.length + POINT_BYTES ||
    !spki.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX)
  )
    throw refuseKey(file, 'its algorithm is not Ed25519', MAKE_A_KEY);
  return spki.subarray(SPKI_PREFIX.length);
}
