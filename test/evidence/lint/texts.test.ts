import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { findPersonal, hidePersonal } from '../../../src/evidence/lint/personal-text.ts';
import { readPointer } from '../../../src/evidence/lint/plain-data.ts';
import { findSecretPath } from '../../../src/evidence/lint/secret-path.ts';
import { hasSecret, hideSecrets } from '../../../src/evidence/lint/secret-text.ts';
import { makeTypePattern } from '../../../src/evidence/lint/type-pattern.ts';
import { watchProcessor } from '../../processor-time.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

describe('hasSecret()', () => {
  it.each([
    TOKEN,
    `${'x '.repeat(5000)}${TOKEN}`,
    `${'x'.repeat(1000)} ${TOKEN}`,
    'sk-1234567890',
    'Authorization: Bearer abcdef123456',
    'https://x.example/?api_key=abcdef',
    'postgres://ada:hunter22@db.example/app',
    '-----BEGIN RSA PRIVATE KEY-----',
    'AKIAIOSFODNN7EXAMPLE',
  ])('finds %.40s, and hides it', (text) => {
    expect(hasSecret(text)).toBe(true);
    if (text.length < 1000) expect(hasSecret(hideSecrets(text))).toBe(false);
  });

  it.each([
    '',
    '${CWD}/node_modules/task-list/disk-usage',
    'sk-learn-pipeline',
    'a bearer of news',
    'token=',
    'token=${TOKEN}',
    'max_token=4096',
    'password=***',
    'token=[redacted:0123456789abcdef]',
    'https://[redacted]@example.com',
    'sha256:26ed3420277e7e2a4a78d4acf945713f4d7d05ed2986f3ac605601e59f12a5b2',
    'fs.deny: ~/.ssh',
  ])('finds nothing in %j', (text) => {
    expect(hasSecret(text)).toBe(false);
    expect(hideSecrets(text)).toBe(text);
  });

  it.each([
    ['-eyJ'.repeat(60_000)],
    ['://@'.repeat(60_000)],
    ['_'.repeat(250_000)],
    ['a.b@'.repeat(60_000)],
    ['/home/'.repeat(40_000)],
  ])('is done soon with a text made to take long: %.8s…', (text) => {
    const spentMs = watchProcessor();
    hasSecret(text);
    findPersonal(text);
    findSecretPath(text);
    expect(spentMs()).toBeLessThan(5000);
  });
});

describe('findPersonal()', () => {
  it('finds addresses and homes, and hides them', () => {
    expect(findPersonal('Ada <ada@lovelace.org>')).toBe('an e-mail address');
    expect(findPersonal('HOME=/home/ada/x')).toBe('the name of a home directory');
    expect(hidePersonal('Ada <ada@lovelace.org> in /home/ada/x')).toBe(
      'Ada <[address]> in /home/[name]/x',
    );
  });
});

describe('findSecretPath()', () => {
  it.each([
    ['${HOME}/.ssh/id_rsa', '~/.ssh'],
    ['/root/.aws/credentials', '~/.aws'],
    ['/home/ada/.kube/config', '~/.kube'],
    ['~/.netrc', '~/.netrc'],
    ['/etc/shadow', '/etc/shadow'],
    ['${CWD}/deploy/server-key.pem', 'server-key.pem'],
    ['${CWD}/.env', '.env'],
  ])('knows %s', (path, secret) => {
    expect(findSecretPath(path)).toBe(secret);
  });

  it.each([
    '${HOME}/.ssh/config',
    '${HOME}/.sshx',
    '/etc/ssl/certs/ca.pem',
    '/usr/lib/python3/certifi/cacert.pem',
    '${CWD}/node_modules/tls/test/server-key.pem',
    '${CWD}/.env.example',
    '${CWD}/src/env.ts',
    '${CWD}/src/key.ts',
  ])('does not take %s for one', (path) => {
    expect(findSecretPath(path)).toBeUndefined();
  });
});

describe('makeTypePattern()', () => {
  it('matches what picomatch matches', () => {
    const pattern = fc.stringMatching(/^(?:[a-c.]|\*|\?|\[[a-c]\]|\[\^a\]|\{a,b\}){1,8}$/);
    const type = fc.stringMatching(/^[a-c.]{1,10}$/);
    fc.assert(
      fc.property(pattern, type, (glob, text) => {
        const own = makeTypePattern(glob);
        // Dots mean nothing in a type; picomatch would give `..` a meaning.
        const other = picomatch(glob.replaceAll('.', '-'), {
          dot: true,
          noextglob: true,
          bash: true,
        });
        expect(typeof own === 'function' && own(text)).toBe(other(text.replaceAll('.', '-')));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('readPointer()', () => {
  it.each<[string, unknown, unknown]>([
    ['', { a: 1 }, { a: 1 }],
    ['/a/0', { a: [5] }, 5],
    ['a/b', { a: { b: null } }, null],
    ['/~01', { '~1': 2 }, 2],
  ])('reads %s', (pointer, value, found) => {
    expect(readPointer(value, pointer)).toEqual({ value: found });
  });

  it.each(['/b', '/a/1', '/a/-', '/a/00', '/a/length', '/__proto__', '/constructor', '/a/0/x'])(
    'finds nothing at %s',
    (pointer) => {
      expect(readPointer({ a: [5] }, pointer)).toBeUndefined();
    },
  );
});
