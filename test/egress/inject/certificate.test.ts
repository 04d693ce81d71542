import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RunAuthority } from '../../../src/egress/inject/authority.ts';
import { makeCertificate, toPem } from '../../../src/egress/inject/certificate.ts';
import { integer, namedBits, octets, oid } from '../../../src/egress/inject/der.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const issuer = { commonName: 'issuer', key: privateKey, publicKey };

function make(host: string | undefined, period = { fromMs: 0, untilMs: 1e12 }): X509Certificate {
  const request = { publicKey, commonName: 'subject', issuer, host, ...period };
  return new X509Certificate(toPem(makeCertificate(request)));
}

describe('makeCertificate()', () => {
  it.each([
    'example.org',
    'xn--bcher-kva.example',
    `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`,
  ])('is for a name: %s', (name) => {
    const made = make(name);
    expect(made.subjectAltName).toBe(`DNS:${name}`);
    expect(made.checkHost(name)).toBe(name);
    expect(made.checkHost('other.example')).toBeUndefined();
    expect(made.ca).toBe(false);
    expect(made.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(made.verify(publicKey)).toBe(true);
  });

  it.each(['192.0.2.1', '0.0.0.1', '2001:db8::1', '::1'])('is for an address: %s', (address) => {
    expect(make(address).checkIP(address)).toBe(address);
    expect(make(address).checkIP('192.0.2.9')).toBeUndefined();
    expect(make(address).subjectAltName).not.toContain('DNS');
  });

  it('is of an authority without a host', () => {
    const made = make(undefined);
    expect([made.ca, made.subjectAltName]).toEqual([true, undefined]);
  });

  it('writes times before and after 2050 as each has to be written', () => {
    const made = make('x.test', {
      fromMs: Date.UTC(2049, 11, 31),
      untilMs: Date.UTC(2050, 0, 1, 2, 3, 4),
    });
    expect(new Date(made.validFrom).getTime()).toBe(Date.UTC(2049, 11, 31));
    expect(new Date(made.validTo).getTime()).toBe(Date.UTC(2050, 0, 1, 2, 3, 4));
  });

  it('never has a serial number twice, nor a negative one', () => {
    const serials = Array.from({ length: 50 }, () => make('x.test').serialNumber);
    expect(new Set(serials).size).toBe(50);
    for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
  });
});

describe('DER', () => {
  it('is as short as can be', () => {
    const hex = (bytes: Buffer): string => bytes.toString('hex');
    expect(hex(integer(Buffer.from([0, 0, 5])))).toBe('020105');
    expect(hex(integer(Buffer.from([0x80])))).toBe('02020080');
    expect(hex(integer(Buffer.from([0])))).toBe('020100');
    expect(hex(namedBits(0x80))).toBe('03020780');
    expect(hex(namedBits(0x04))).toBe('03020204');
    expect(hex(oid('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302');
    expect(hex(octets(Buffer.alloc(127)).subarray(0, 2))).toBe('047f');
    expect(hex(octets(Buffer.alloc(128)).subarray(0, 3))).toBe('048180');
    expect(hex(octets(Buffer.alloc(256)).subarray(0, 4))).toBe('04820100');
  });
});

describe('RunAuthority', () => {
  it('makes a certificate once for each host, and again when half of its time is over', () => {
    let now = Date.now();
    const authority = new RunAuthority(() => now);
    const first = authority.contextFor('a.test');
    expect(authority.contextFor('a.test')).toBe(first);
    expect(authority.contextFor('b.test')).not.toBe(first);
    now += 13 * 3_600_000;
    expect(authority.contextFor('a.test')).not.toBe(first);
  });

  it('keeps no more of them than it may', () => {
    const authority = new RunAuthority(Date.now);
    const first = authority.contextFor('a.test');
    for (let count = 0; count < 256; count++) authority.contextFor(`${count}.test`);
    expect(authority.contextFor('a.test')).not.toBe(first);
  });

  it('is another one in every run', () => {
    const [one, other] = [new RunAuthority(Date.now), new RunAuthority(Date.now)].map(
      ({ certificatePem }) => new X509Certificate(certificatePem),
    );
    expect(one?.subject).not.toBe(other?.subject);
    expect(one?.verify(one.publicKey)).toBe(true);
    expect(other && one?.verify(other.publicKey)).toBe(false);
  });
});
