import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSignedBy } from '../../../src/core/keys/ed25519.ts';
import { parsePrivateKey } from '../../../src/core/keys/private-key.ts';
import { parseTrustedKeys, type TrustedKey } from '../../../src/core/keys/trusted-keys.ts';
import { findMissing, makePemKey, makePlace, makeSshKey, runTool } from './make-keys.ts';

const missing = findMissing('openssl', 'ssh-keygen');
const NOW = new Date('2026-06-01T12:00:00Z');

function parse(text: string, file = 'ops.pub'): readonly TrustedKey[] {
  return parseTrustedKeys(text, { file, now: NOW });
}

const MESSAGE = Buffer.from('what is signed');

describe.skipIf(missing !== undefined)(`keys of openssl${missing ? ` (${missing})` : ''}`, () => {
  const place = makePlace();
  const key = makePemKey(place, 'pem');

  it('are read in both halves, under the id that openssl gives them', () => {
    const signing = parsePrivateKey(key.privateText, 'pem');
    const [trusted] = parse(key.publicText);
    const der = runTool('openssl', 'pkey', '-pubin', '-in', key.publicFile, '-outform', 'DER');
    const id = `sha256:${createHash('sha256').update(der).digest('hex')}`;
    expect([signing.keyId, trusted?.keyId]).toEqual([id, id]);
    expect(trusted && isSignedBy(trusted, MESSAGE, signing.sign(MESSAGE))).toBe(true);
  });

  it('may stand several in one file', () => {
    const other = makePemKey(place, 'other');
    expect(parse(key.publicText + other.publicText)).toHaveLength(2);
  });

  it.each<[string, readonly string[], string]>([
    ['RSA', ['genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'], 'rsa'],
    ['P-256', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'], 'ec'],
    ['X25519', ['genpkey', '-algorithm', 'X25519'], 'x25519'],
  ])('are refused with the algorithm %s', (_, args, name) => {
    const file = join(place, name);
    runTool('openssl', ...args, '-out', file);
    const pub = runTool('openssl', 'pkey', '-in', file, '-pubout').toString();
    expect(() => parsePrivateKey(readFileSync(file, 'utf8'), file)).toThrow(
      `its algorithm is ${name}, not Ed25519`,
    );
    expect(() => parse(pub)).toThrow('its algorithm is not Ed25519');
  });

  it('are refused with a passphrase, with the way out', () => {
    const file = join(place, 'locked');
    runTool('openssl', 'pkey', '-in', key.file, '-aes256', '-passout', 'pass:x', '-out', file);
    expect(() => parsePrivateKey(readFileSync(file, 'utf8'), file)).toThrow(
      expect.objectContaining({
        code: 'E_KEY',
        message: expect.stringContaining('passphrase') as string,
        hint: expect.stringContaining('openssl pkey -in') as string,
      }),
    );
  });
});

describe.skipIf(missing !== undefined)(
  `keys of ssh-keygen${missing ? ` (${missing})` : ''}`,
  () => {
    const place = makePlace();
    const key = makeSshKey(place, 'ops');

    it('are read in both halves, with their comment', () => {
      const signing = parsePrivateKey(key.privateText, 'ops');
      const [trusted] = parse(key.publicText);
      expect(trusted).toMatchObject({ keyId: signing.keyId, name: 'ops@example', file: 'ops.pub' });
      expect(trusted && isSignedBy(trusted, MESSAGE, signing.sign(MESSAGE))).toBe(true);
    });

    it.each<[string, readonly string[], string]>([
      ['a passphrase', ['-t', 'ed25519', '-N', 'secret'], 'passphrase'],
      ['RSA', ['-t', 'rsa', '-b', '2048', '-N', ''], 'ssh-rsa, not ssh-ed25519'],
      ['ECDSA', ['-t', 'ecdsa', '-N', ''], 'ecdsa-sha2-nistp256, not ssh-ed25519'],
      ['RSA in PEM', ['-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PEM'], 'RSA PRIVATE KEY'],
    ])('are refused with %s', (name, args, reason) => {
      const other = makeSshKey(place, name.replaceAll(' ', '-'), ...args);
      expect(() => parsePrivateKey(other.privateText, 'k')).toThrow(reason);
      if (!args.includes('ed25519'))
        expect(() => parse(other.publicText)).toThrow(/not ssh-ed25519/);
    });

    it('are refused when cut off or altered anywhere', () => {
      const body = key.privateText.split('\n').slice(1, -2).join('');
      const whole = Buffer.from(body, 'base64');
      const wrap = (bytes: Buffer): string =>
        `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
      expect(parsePrivateKey(wrap(whole), 'k').keyId).toMatch(/^sha256:/);
      for (let length = 0; length < whole.length; length += 7)
        expect(() => parsePrivateKey(wrap(whole.subarray(0, length)), 'k')).toThrow('as a key');
      // The seed begins 32 bytes before the second copy of the public half ends the pair.
      const at = whole.lastIndexOf(whole.subarray(62, 94)) - 1;
      const altered = Buffer.from(whole);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => parsePrivateKey(wrap(altered), 'k')).toThrow('do not belong together');
    });

    it('are taken from an allowed_signers file, with the principal as the name', () => {
      const rsa = makeSshKey(place, 'rsa2', '-t', 'rsa', '-b', '2048', '-N', '');
      const [type, encoded] = key.publicText.split(' ');
      const line = `${type} ${encoded}`;
      const text = [
        '# who may sign',
        '',
        `root@example ${rsa.publicText.trim()}`,
        `alice@example,bob@example namespaces="git,assay-*",valid-after="20200101Z" ${line}`,
      ].join('\n');
      expect(parse(text)).toMatchObject([{ name: 'alice@example,bob@example' }]);
      expect(parse(`alice@example ${line} comment`)).toMatchObject([{ name: 'alice@example' }]);
    });

    it.each([
      ['namespaces="git"', 'its namespaces do not include assay-evidence'],
      ['namespaces="*,!assay-evidence"', 'its namespaces do not include'],
      ['valid-before="20260601Z"', 'it is not valid any more'],
      ['valid-before=20260601120000Z', 'it is not valid any more'],
      ['valid-after="202606011201Z"', 'it is not valid yet'],
      ['valid-before="tomorrow"', 'it is not valid any more'],
      ['cert-authority', '"cert-authority" is not supported'],
      ['no-such-option', '"no-such-option" is not supported'],
    ])('are passed over with the option %s', (option, reason) => {
      const [type, encoded] = key.publicText.split(' ');
      expect(() => parse(`alice ${option} ${type} ${encoded}`)).toThrow(reason);
    });
  },
);

describe('parsePrivateKey()', () => {
  it.each([
    ['nothing', '', 'neither PEM nor an OpenSSH private key'],
    ['some text', 'hello', 'neither PEM nor an OpenSSH private key'],
    ['a public key', '-----BEGIN PUBLIC KEY-----\n', 'it is a public key'],
    ['an SSH public key', 'ssh-ed25519 AAAA x', 'it is a public key'],
    [
      'a damaged PEM',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
      'its PEM cannot be read',
    ],
    ['an armour of nothing', '-----BEGIN OPENSSH PRIVATE KEY-----', 'its text is damaged'],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parsePrivateKey(text, 'k')).toThrow(reason);
  });
});

describe('parseTrustedKeys()', () => {
  it.each([
    ['nothing', '', 'there is no key in it'],
    ['some text', 'hello', 'neither PEM nor lines of SSH public keys'],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----', 'a private key'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----', 'CERTIFICATE'],
    ['a PEM without an end', '-----BEGIN PUBLIC KEY-----\nA', 'there is no key in it'],
    ['a damaged PEM', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'its PEM'],
    ['a damaged line', 'ssh-ed25519 AAAA', 'the key after ssh-ed25519 is damaged'],
    [
      'a line that hides another algorithm',
      `ssh-ed25519 ${Buffer.from('\0\0\0\u0007ssh-rsa\0\0\0\u0001x').toString('base64')}`,
      'the key after ssh-ed25519 is damaged',
    ],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });
});
