import { createHash, createPublicKey, verify } from 'node:crypto';

/** A public key in its 32 bytes, with the names that messages give it. */
export interface PublicKey {
  /** `sha256:` and the SHA-256 of the key as SubjectPublicKeyInfo in DER. */
  readonly keyId: string;
  readonly point: Uint8Array;
}

export interface SigningKey extends PublicKey {
  sign(message: Uint8Array): Buffer;
}

export const POINT_BYTES = 32;

/** RFC 8410: everything of a SubjectPublicKeyInfo before the 32 bytes of an Ed25519 key. */
export const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** RFC 8032: the prime of the field, and the order of the base point. */
const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** The y of every point whose order divides 8. Under such a key anybody can make signatures that fit. */
const LOW_ORDER_Y: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

export function toPublicKey(point: Uint8Array): PublicKey {
  const digest = createHash('sha256').update(SPKI_PREFIX).update(point).digest('hex');
  return { keyId: `sha256:${digest}`, point };
}

/** Why these bytes cannot be trusted as a key, if so. */
export function findPointProblem(point: Uint8Array): string | undefined {
  if (point.length !== POINT_BYTES) return `it has ${point.length} bytes instead of ${POINT_BYTES}`;
  const y = readLittleEndian(point) & (2n ** 255n - 1n);
  if (y >= P) return 'it is not encoded canonically';
  return LOW_ORDER_Y.has(y) ? 'it is a point of low order, for which anybody can sign' : undefined;
}

/** By RFC 8032, strictly: of the two encodings that a number may have, only the canonical one counts. */
export function isSignedBy(
  { point }: PublicKey,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (signature.length !== 64 || readLittleEndian(signature.subarray(32)) >= L) return false;
  if (findPointProblem(point) !== undefined) return false;
  const der = Buffer.concat([SPKI_PREFIX, point]);
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: 'der', type: 'spki' }),
    signature,
  );
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
