import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findPointProblem, isSignedBy, toPublicKey } from '../../../src/core/keys/ed25519.ts';

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const MESSAGE = Buffer.from('what is signed');

function encode(value: bigint, bytes = 32): Buffer {
  return Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex').reverse();
}

function decode(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

const pair = generateKeyPairSync('ed25519');
const point = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
const key = toPublicKey(point);
const signature = sign(null, MESSAGE, pair.privateKey);

describe('isSignedBy()', () => {
  it('takes the first vector of RFC 8032, and no altered bit of it', () => {
    const known = toPublicKey(
      Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex'),
    );
    const good = Buffer.from(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      'hex',
    );
    expect(isSignedBy(known, Buffer.alloc(0), good)).toBe(true);
    for (let bit = 0; bit < 512; bit++) {
      const altered = Buffer.from(good);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(isSignedBy(known, Buffer.alloc(0), altered)).toBe(false);
    }
  });

  it.each<[string, Uint8Array]>([
    ['nothing', Buffer.alloc(0)],
    ['63 bytes', signature.subarray(0, 63)],
    ['65 bytes', Buffer.concat([signature, Buffer.alloc(1)])],
    ['zeros', Buffer.alloc(64)],
    ['ones', Buffer.alloc(64, 255)],
    ['the same number, encoded a second way', withScalar(decode(signature.subarray(32)) + L)],
    ['the order of the group as the number', withScalar(L)],
    ['R of low order', Buffer.concat([encode(1n), signature.subarray(32)])],
    ['R encoded a second way', Buffer.concat([encode(P + 1n), Buffer.alloc(32)])],
  ])('refuses %s', (_, bytes) => {
    expect(isSignedBy(key, MESSAGE, signature)).toBe(true);
    expect(isSignedBy(key, MESSAGE, bytes)).toBe(false);
  });

  it('refuses a key under which one signature fits every message, which not every openssl does', () => {
    const neutral = encode(1n);
    const forged = Buffer.concat([encode(1n), encode(0n)]);
    expect(isSignedBy(toPublicKey(neutral), MESSAGE, forged)).toBe(false);
  });
});

function withScalar(scalar: bigint): Buffer {
  return Buffer.concat([signature.subarray(0, 32), encode(scalar)]);
}

describe('findPointProblem()', () => {
  it('has nothing against a key', () => {
    expect(findPointProblem(point)).toBeUndefined();
  });

  it('knows every point of low order', () => {
    const found = listTorsion();
    expect(new Set(found.map(String)).size).toBe(5);
    for (const y of found)
      for (const sign of [0n, 2n ** 255n])
        expect(findPointProblem(encode(y + sign))).toMatch(/low order/);
  });

  it.each([0n, 1n, 18n])('refuses p + %d, which is %d encoded a second way', (y) => {
    expect(findPointProblem(encode(P + y))).toBe('it is not encoded canonically');
  });

  it('refuses another length', () => {
    expect(findPointProblem(point.subarray(1))).toMatch(/31 bytes/);
  });
});

/*
 * Points whose order divides 8, found by arithmetic: every y with 8 · (x, y) = (0, 1), where twice a point depends on
 * x² and y only. The orders 1, 2 and 4 have y = 1, -1 and 0; those of order 8 are doubled to order 4, to y = 0.
 */
function listTorsion(): bigint[] {
  const D = mod(-121_665n * power(121_666n, P - 2n));
  // Doubling gives y' = (y² + x²) / (1 - d x² y²) with a = -1, and x² = (y² - 1) / (d y² + 1): y' = 0 where y² = -x².
  // So d y⁴ + 2 y² - 1 = 0.
  const root = squareRoot(mod(1n + D));
  const squares = [root, -root].map((sign) => mod((sign - 1n) * power(D, P - 2n)));
  const roots = squares.flatMap((square) => {
    const y = findSquareRoot(square);
    return y === undefined ? [] : [y, mod(-y)];
  });
  return [1n, P - 1n, 0n, ...roots];
}

function mod(value: bigint): bigint {
  return ((value % P) + P) % P;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = mod(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}

function findSquareRoot(value: bigint): bigint | undefined {
  const candidate = power(value, (P + 3n) / 8n);
  const turned = (candidate * power(2n, (P - 1n) / 4n)) % P;
  return [candidate, turned].find((root) => (root * root) % P === value);
}

function squareRoot(value: bigint): bigint {
  const root = findSquareRoot(value);
  if (root === undefined) throw new Error('no square');
  return root;
}
