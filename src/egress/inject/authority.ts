import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { makeCertificate, toPem } from './certificate.ts';

const HOUR_MS = 3_600_000;
/** Clocks of programs may be set back a little. */
const BEFORE_MS = HOUR_MS;
const AUTHORITY_MS = 30 * 24 * HOUR_MS;
const LEAF_MS = 24 * HOUR_MS;
/** A certificate is handed out for half of its time, so that nobody is left with one that is over. */
const LEAF_USED_MS = LEAF_MS / 2;
/** A wildcard stands for any number of hosts, and a program may ask for all of them. */
const MAX_LEAVES = 256;
const MAX_COMMON_NAME = 64;

interface Leaf {
  readonly context: SecureContext;
  readonly madeMs: number;
}

/**
 * Signs certificates for hosts whose TLS is opened, for one run. Its key is in the memory of this process and nowhere
 * else, and gone with it; whoever trusts the certificate afterwards trusts nothing.
 */
export class RunAuthority {
  readonly certificatePem: string;
  readonly #now: () => number;
  readonly #issuer: { commonName: string; key: KeyObject; publicKey: KeyObject };
  readonly #leafKeys = makeKeys();
  readonly #leaves = new Map<string, Leaf>();

  constructor(now: () => number) {
    this.#now = now;
    const { privateKey, publicKey } = makeKeys();
    // Two authorities of one name and two keys would be taken for each other.
    const commonName = `assay run ${randomBytes(8).toString('hex')}`;
    this.#issuer = { commonName, key: privateKey, publicKey };
    const own = { publicKey, commonName, issuer: this.#issuer };
    this.certificatePem = toPem(makeCertificate({ ...own, ...this.#period(AUTHORITY_MS) }));
  }

  /** What a server needs to be taken for `host`, a name or an address. */
  contextFor(host: string): SecureContext {
    const known = this.#leaves.get(host);
    if (known && this.#now() - known.madeMs < LEAF_USED_MS) return known.context;
    this.#leaves.delete(host);
    const [oldest] = this.#leaves.keys();
    if (oldest !== undefined && this.#leaves.size >= MAX_LEAVES) this.#leaves.delete(oldest);
    const made = { context: this.#makeContext(host), madeMs: this.#now() };
    this.#leaves.set(host, made);
    return made.context;
  }

  #makeContext(host: string): SecureContext {
    const { privateKey, publicKey } = this.#leafKeys;
    const certificate = makeCertificate({
      publicKey,
      commonName: host.length <= MAX_COMMON_NAME ? host : 'assay',
      issuer: this.#issuer,
      host,
      ...this.#period(LEAF_MS),
    });
    return createSecureContext({
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      cert: toPem(certificate),
      minVersion: 'TLSv1.2',
    });
  }

  #period(ms: number): { fromMs: number; untilMs: number } {
    const now = this.#now();
    return { fromMs: now - BEFORE_MS, untilMs: now + ms };
  }
}

function makeKeys(): { privateKey: KeyObject; publicKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}
