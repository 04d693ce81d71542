import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { POINT_BYTES, SPKI_PREFIX, type SigningKey, toPublicKey } from './ed25519.ts';
import { MAKE_A_KEY, refuseKey } from './key-error.ts';
import { readSshPrivateKey } from './ssh-private-key.ts';

/** RFC 8410: everything of a PKCS#8 key before the 32 bytes of an Ed25519 seed. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A private key from PEM (PKCS#8) or from the format of OpenSSH. `file` names it in errors. */
export function parsePrivateKey(text: string, file: string): SigningKey {
  const label = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1];
  if (label === 'OPENSSH PRIVATE KEY') return fromSeed(readSshPrivateKey(text, file), file);
  if (label === 'PRIVATE KEY') return fromPem(text, file);
  if (label === 'ENCRYPTED PRIVATE KEY')
    throw refuseKey(
      file,
      'it is protected by a passphrase',
      'Take the passphrase off a copy: openssl pkey -in KEY -out COPY',
    );
  if (label?.endsWith('PRIVATE KEY') === true)
    throw refuseKey(file, `a ${label} is not an Ed25519 key`, MAKE_A_KEY);
  const isPublic = label?.endsWith('PUBLIC KEY') === true || /^(?:ssh|sk-ssh|ecdsa)-/m.test(text);
  throw isPublic
    ? refuseKey(file, 'it is a public key', 'Sign with the private one, which has no .pub')
    : refuseKey(file, 'it is neither PEM nor an OpenSSH private key', MAKE_A_KEY);
}

function fromPem(text: string, file: string): SigningKey {
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (cause) {
    throw refuseKey(file, 'its PEM cannot be read', MAKE_A_KEY, cause);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw refuseKey(file, `its algorithm is ${key.asymmetricKeyType}, not Ed25519`, MAKE_A_KEY);
  return toSigningKey(key);
}

function fromSeed({ seed, point }: { seed: Buffer; point: Buffer }, file: string): SigningKey {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const key = toSigningKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  // A private key beside the wrong public one gives itself away with its first signatures.
  if (!point.equals(key.point))
    throw refuseKey(file, 'its two halves do not belong together', MAKE_A_KEY);
  return key;
}

function toSigningKey(key: KeyObject): SigningKey {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const point = spki.subarray(SPKI_PREFIX.length, SPKI_PREFIX.length + POINT_BYTES);
  return { ...toPublicKey(point), sign: (message) => sign(null, message, key) };
}
