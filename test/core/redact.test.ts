import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactArgv, redactText } from '../../src/core/redact.ts';
import { REDACTED } from '../../src/core/redaction-mark.ts';
import { hasCredential } from '../../src/core/secret-shapes.ts';
import { watchProcessor } from '../processor-time.ts';

/** Put together at run time, so that no scanner takes this file for a leak. */
const fake = (prefix: string, body = 'a1B2c3D4e5'): string => prefix + body.repeat(4);
const JWT = [fake('eyJ'), fake('eyJ'), fake('x')].join('.');
const PEM = ['-----BEGIN RSA', 'PRIVATE KEY-----\nMIIE\n-----END RSA', 'PRIVATE KEY-----'].join(
  ' ',
);

const SEALED_PEM = PEM.replace('\nMIIE', '\nDEK-Info: AES-128-CBC,00FF\n\nMIIE');

const PGP = [
  `-----BEGIN PGP ${'PRIVATE'} KEY BLOCK-----`,
  'Version: GnuPG v1.4.9 (GNU/Linux)',
  'Comment: Jane <jane@example.org>',
  '',
  fake('lQdGBF'),
  'a1B2c3+/',
  '=a1B2',
  `-----END PGP ${'PRIVATE'} KEY BLOCK-----`,
].join('\n');

const TOKENS = [
  fake('ghp_'),
  fake('ghs_'),
  fake('github_pat_'),
  fake('glpat-'),
  fake('sk-ant-api03-'),
  fake('sk-proj-'),
  fake('sk_live_'),
  fake('xoxb-'),
  `AKIA${'ABCDEFGH12345678'}`,
  fake('AIza'),
  fake('npm_'),
  fake('hf_'),
  fake('AGE-SECRET-KEY-1', 'A1B2C3D4E5'),
  JWT,
  PEM,
  SEALED_PEM,
  PGP,
  PGP.replaceAll('\n', '\\n'),
];

describe('redactText()', () => {
  it.each(TOKENS.map((token) => [token.slice(0, 14), token]))('hides %s…', (_, token) => {
    const shown = redactText(`before "${token}" after`);
    expect(shown).toBe(`before "${REDACTED}" after`);
  });

  it('hides what is left of a private key that was cut', () => {
    expect(redactText(`key: ${PEM.slice(0, PEM.indexOf('IE\n'))}`)).toBe(`key: ${REDACTED}`);
    const [head = ''] = PEM.split('\n');
    expect(redactText(`grep "${head}" x.pem`)).toBe(`grep "${REDACTED}" x.pem`);
  });

  it.each([
    ['https://user:pass@host/x', 'https://[redacted]@host/x'],
    ['https://token@host/x', 'https://[redacted]@host/x'],
    ['postgres://u:p%40ss/word@db:5432/x', 'postgres://[redacted]@db:5432/x'],
    ['https://host/x?a=1&access_token=abc&b=2', 'https://host/x?a=1&access_token=[redacted]&b=2'],
    ['https://u:p@host/?token=abc', 'https://[redacted]@host/?token=[redacted]'],
    ['Authorization: Bearer abcdef', 'Authorization: [redacted]'],
    ['authorization: Basic Zm9vOmJhcg==', 'authorization: [redacted]'],
    ['X-Api-Key: abc', 'X-Api-Key: [redacted]'],
    ['{"password": "a\\"b c", "a": "b"}', '{"password": [redacted], "a": "b"}'],
    ['TOKEN=abc make --password hunter2 all', 'TOKEN=[redacted] make --password [redacted] all'],
    ["DB_PASS='a b' run", 'DB_PASS=[redacted] run'],
    ['PASSWORD=//abc', 'PASSWORD=[redacted]'],
    [`SECRET=a:${fake('ghp_')}:b`, 'SECRET=[redacted]'],
  ])('%s → %s', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });

  it.each([
    'make -j4 all',
    'ssh://git@github.com/owner/repo',
    'git@github.com:owner/repo',
    'http://localhost:4873/@scope/package',
    'https://host:8443/a?b=c',
    'git commit --author "Jane <jane@example.org>"',
    '--max-tokens=100 monkeys=2 KEYBOARD=us',
    '/srv/task-list-for-the-next-2000-years/disk-2',
    'sk-learn-contrib-and-friends',
    'a:b=c',
  ])('leaves %s alone', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('never shows a named secret, whatever it is made of, and changes nothing the second time', () => {
    const name = fc.constantFrom(
      'token',
      'DB_PASS',
      'api-key',
      'client_secret',
      'npm_config__auth',
    );
    const secret = fc.stringMatching(/^[A-Za-z0-9!$%*+,./:=?@^_{}~|-]{6,40}$/);
    const shape = fc.constantFrom(
      (n: string, s: string) => `cmd ${n}=${s} more`,
      (n: string, s: string) => `run --${n}=${s}`,
      (n: string, s: string) => `x "${n}": "${s}"`,
      (n: string, s: string) => `curl -H '${n}: ${s}'`,
    );
    fc.assert(
      fc.property(name, secret, shape, (n, s, form) => {
        // `name: //…` reads as the scheme of an address, and a value without quotes ends at a pipe.
        const isPiped = s.includes('|') && !/['"]/.test(form(n, s));
        fc.pre(!s.startsWith('//') && !isPiped && !REDACTED.includes(s));
        const shown = redactText(form(n, s));
        expect(shown).not.toContain(s);
        expect(redactText(shown)).toBe(shown);
      }),
    );
  });

  it.each([
    '://a:b'.repeat(20_000),
    'sk-'.repeat(30_000),
    'token="'.repeat(15_000),
    '-'.repeat(100_000) + '=',
    'a.'.repeat(50_000) + '=',
    `x=Bearer ${' '.repeat(100_000)}=`,
    '-eyJaaaaaaaa'.repeat(10_000),
    'token:/'.repeat(18_000),
    '/token:abcd'.repeat(12_000),
    'Cookie: a=b;'.repeat(10_000),
    '%3A%2F%2Fa%3A'.repeat(10_000),
    `auth=("a`.repeat(16_000),
    `${PGP.slice(0, 37)}\n${'A'.repeat(120_000)}!`,
    `${PGP.slice(0, 37)}${' '.repeat(120_000)}!`,
    `${PGP.slice(0, 37)}\n${'Comment: a\n'.repeat(11_000)}!`,
  ])('takes time in proportion to the length (%#)', (text) => {
    const spentMs = watchProcessor();
    redactText(`${text} @ =`);
    // Quadratic would be several seconds.
    expect(spentMs()).toBeLessThan(1000);
  });
});

describe('redactArgv()', () => {
  it.each([
    '\\"'.repeat(50_000),
    '"\\'.repeat(50_000),
    "'".repeat(99_999),
    'a"b '.repeat(25_000),
    '('.repeat(120_000),
    '$(a;'.repeat(30_000),
    `"'`.repeat(60_000),
    'max_'.repeat(30_000),
  ])('takes time in proportion to the length (%#)', (text) => {
    const spentMs = watchProcessor();
    redactArgv(['sh', '-c', `${text} x`]);
    expect(spentMs()).toBeLessThan(1000);
  });

  it('takes time in proportion to the number of words', () => {
    const spentMs = watchProcessor();
    redactArgv(Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? 'token:' : 'of')));
    expect(spentMs()).toBeLessThan(1000);
  });

  it.each([
    [
      ['x', '--password', 'a b', 'y'],
      ['x', '--password', REDACTED, 'y'],
    ],
    [
      ['x', '--api-key=a,b c', 'y'],
      ['x', `--api-key=${REDACTED}`, 'y'],
    ],
    [
      ['x', '-token', 'abc'],
      ['x', '-token', REDACTED],
    ],
    [
      ['env', 'TOKEN=a&b', 'x'],
      ['env', `TOKEN=${REDACTED}`, 'x'],
    ],
    [
      ['/usr/bin/curl', '-u', 'me:pw', 'h'],
      ['/usr/bin/curl', '-u', REDACTED, 'h'],
    ],
    [
      ['curl', '-ume:pw', '--user=me:pw'],
      ['curl', `-u${REDACTED}`, `--user=${REDACTED}`],
    ],
    [
      ['sudo', 'mysql', '-psecret', '-p', 'db'],
      ['sudo', 'mysql', `-p${REDACTED}`, '-p', 'db'],
    ],
    [
      ['sshpass', '-p', 'pw', 'ssh', 'h'],
      ['sshpass', '-p', REDACTED, 'ssh', 'h'],
    ],
    [
      ['x', '--auth', '--verbose', 'y'],
      ['x', '--auth', '--verbose', 'y'],
    ],
    [
      ['mkdir', '-p', 'dir'],
      ['mkdir', '-p', 'dir'],
    ],
    [
      ['python3', '-u', 'main.py'],
      ['python3', '-u', 'main.py'],
    ],
    [
      ['x', '--author', 'Jane', ''],
      ['x', '--author', 'Jane', ''],
    ],
    [[], []],
  ])('%j → %j', (argv, shown) => {
    expect(redactArgv(argv)).toEqual(shown);
  });
});

describe('hasCredential()', () => {
  it.each([...TOKENS, 'http://user:pass@proxy:3128', `Bearer ${fake('ghp_')}`])(
    'sees %s',
    (value) => {
      expect(hasCredential(value)).toBe(true);
      // The patterns are shared: a search must not move where the next one starts.
      expect(hasCredential(value)).toBe(true);
    },
  );

  it.each(['http://proxy:3128', '/usr/bin:/bin', 'en_GB.UTF-8', 'ssh://git@host', '', '1'])(
    'sees nothing in %s',
    (value) => {
      expect(hasCredential(value)).toBe(false);
    },
  );
});
