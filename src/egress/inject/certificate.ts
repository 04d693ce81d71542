import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type IpAddress, parseIp } from '../../policy/ip-address.ts';
import {
  bits,
  boolean,
  integer,
  namedBits,
  octets,
  oid,
  sequence,
  setOf,
  tagged,
  time,
  utf8,
} from './der.ts';

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const DIGITAL_SIGNATURE = 0x80;
const CERT_SIGN = 0x04;
const SERIAL_BYTES = 16;

export interface CertificateRequest {
  readonly publicKey: KeyObject;
  readonly commonName: string;
  readonly issuer: {
    readonly commonName: string;
    readonly key: KeyObject;
    readonly publicKey: KeyObject;
  };
  readonly fromMs: number;
  readonly untilMs: number;
  /** The name or address that it is for; absent of an authority. */
  readonly host?: string | undefined;
}

/** An X.509 certificate (RFC 5280), signed with ECDSA. */
export function makeCertificate(request: CertificateRequest): Buffer {
  const { publicKey, issuer, fromMs, untilMs } = request;
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const body = sequence(
    tagged(0, integer(Buffer.from([2])), true), // version 3
    integer(makeSerial()),
    algorithm,
    nameOf(issuer.commonName),
    sequence(time(fromMs), time(untilMs)),
    nameOf(request.commonName),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...listExtensions(request)), true),
  );
  const signature = sign('sha256', body, { key: issuer.key, dsaEncoding: 'der' });
  return sequence(body, algorithm, bits(signature));
}

export function toPem(certificate: Uint8Array): string {
  const lines =
    Buffer.from(certificate)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** Positive, and never 0. */
function makeSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function nameOf(commonName: string): Buffer {
  return sequence(setOf(sequence(oid(OID.commonName), utf8(commonName))));
}

function listExtensions({ host, publicKey, issuer }: CertificateRequest): Buffer[] {
  const identifiers = [
    extension(OID.subjectKeyIdentifier, octets(identify(publicKey))),
    extension(OID.authorityKeyIdentifier, sequence(tagged(0, identify(issuer.publicKey), false))),
  ];
  if (host === undefined)
    return [
      // An authority that can make no further ones.
      extension(OID.basicConstraints, sequence(boolean(true), integer(Buffer.from([0]))), true),
      extension(OID.keyUsage, namedBits(CERT_SIGN), true),
      ...identifiers,
    ];
  return [
    extension(OID.basicConstraints, sequence(), true),
    extension(OID.keyUsage, namedBits(DIGITAL_SIGNATURE), true),
    extension(OID.extKeyUsage, sequence(oid(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(altName(host))),
    ...identifiers,
  ];
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octets(value));
}

function altName(host: string): Buffer {
  const ip = parseIp(host);
  return ip ? tagged(7, toBytes(ip), false) : tagged(2, Buffer.from(host, 'latin1'), false);
}

function toBytes({ bits: count, value }: IpAddress): Buffer {
  return Buffer.from(value.toString(16).padStart(count / 4, '0'), 'hex');
}

/** What it is called by is free; the digest of the key is what everybody takes (RFC 5280, 4.2.1.2). */
function identify(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}
