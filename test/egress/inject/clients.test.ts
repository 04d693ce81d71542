import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addTrustVariables } from '../../../src/plan/trust.ts';
import { allow, InjectKit, injectInto, SECRET, TestAuthority } from './inject-kit.ts';

const run = promisify(execFile);

let authority: TestAuthority;
beforeAll(() => {
  authority = new TestAuthority();
});
afterAll(() => authority[Symbol.dispose]());

let kit: InjectKit;
let port: number;
let env: Record<string, string>;
afterEach(async () => kit.close());

/** The environment of a program inside, as far as it is about whom to trust and where the proxy is. */
async function open(): Promise<void> {
  const inject = [injectInto('api.test', { isTlsOpened: true })];
  kit = await new InjectKit().open(
    { net: [allow('api.test')], inject },
    { NODE_EXTRA_CA_CERTS: authority.file },
  );
  port = await kit.serve(authority.issue('DNS:api.test'));
  const path = authority.write('bundle.pem', kit.injection.opening?.bundlePem ?? '');
  const trust = { path, text: '', isWritten: true };
  const proxy = `http://127.0.0.1:${kit.door.proxyPort}`;
  env = {
    PATH: '/usr/bin:/bin',
    HOME: authority.dir,
    GIT_CONFIG_NOSYSTEM: '1',
    https_proxy: proxy,
    ...Object.fromEntries(addTrustVariables([], trust, {})),
  };
}

const NODE_GET = `
  const [host, port, proxy] = process.argv.slice(1);
  const asked = require('http').request({ port: proxy, method: 'CONNECT', path: host + ':' + port,
    headers: { host: host + ':' + port } });
  asked.on('connect', (_, socket) => require('https').get({ host, port, socket, agent: false, servername: host },
    (response) => response.pipe(process.stdout).on('finish', () => socket.destroy()))).end();`;

const PYTHON_GET = `
import sys, urllib.request
print(urllib.request.urlopen(f"https://{sys.argv[1]}:{sys.argv[2]}/").read().decode())`;

describe('programs that look at the variables', () => {
  it.each([
    ['curl', (at: string) => ['/usr/bin/curl', '-sS', `https://${at}/`]],
    ['wget', (at: string) => ['/usr/bin/wget', '-qO-', `https://${at}/`]],
    ['node', (at: string) => [process.execPath, '-e', NODE_GET, ...at.split(':')]],
    ['python', (at: string) => ['/usr/bin/python3', '-c', PYTHON_GET, ...at.split(':')]],
  ])('trust the run, and know nothing of the header: %s', async (name, makeArgv) => {
    await open();
    const [file = '', ...args] = makeArgv(`api.test:${port}`);
    const more = name === 'node' ? [String(kit.door.proxyPort)] : [];
    const trust = name === 'wget' ? [`--ca-certificate=${env['SSL_CERT_FILE']}`] : [];
    const { stdout } = await run(file, [...trust, ...args, ...more], { env, timeout: 20_000 });
    expect(stdout).toContain('answer');
    expect(kit.values()).toEqual([SECRET]);
  });

  it('trust the run: git', async () => {
    await open();
    const asked = run('/usr/bin/git', ['ls-remote', `https://api.test:${port}/r.git`], { env });
    // What answers is no repository, but it was asked.
    await expect(asked).rejects.toThrow('not valid: is this a git repository');
    expect(kit.values()).toEqual([SECRET]);
  });

  it('that do not trust the run break off, and nothing is sent', async () => {
    await open();
    const bare = { ...env, CURL_CA_BUNDLE: authority.file };
    const asked = run('/usr/bin/curl', ['-sS', `https://api.test:${port}/`], { env: bare });
    await expect(asked).rejects.toThrow('certificate');
    expect(kit.seen).toEqual([]);
    expect((await kit.door.fact()).note).toContain('TLS with the program failed');
  });
});

describe('the certificates', () => {
  it('are verified by openssl, strictly, for the one name and no other', async () => {
    await open();
    const script = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -proxy 127.0.0.1:${kit.door.proxyPort} \
      -connect api.test:${port} -servername api.test -CAfile ${env['SSL_CERT_FILE']} -x509_strict -showcerts \
      -verify_return_error -verify_hostname api.test -ign_eof`;
    const { stdout } = await run('/bin/sh', ['-c', script], { timeout: 20_000 });
    expect(stdout).toContain('Verify return code: 0 (ok)');
    expect(stdout).toContain('answer');
    const leaf = authority.write(
      'seen.pem',
      /-----BEGIN[^]*?-----END CERTIFICATE-----\n/.exec(stdout)?.[0] ?? '',
    );
    const ca = authority.write('run.pem', kit.injection.opening?.authority.certificatePem ?? '');
    const verify = (host: string): string =>
      execFileSync(
        'openssl',
        ['verify', '-x509_strict', '-CAfile', ca, '-verify_hostname', host, leaf],
        {
          stdio: 'pipe',
        },
      ).toString();
    expect(verify('api.test')).toContain('OK');
    expect(() => verify('other.test')).toThrow('hostname mismatch');
    const text = execFileSync('openssl', ['x509', '-in', ca, '-noout', '-text']).toString();
    expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
    expect(text).toMatch(/Key Usage: critical\s+Certificate Sign\n/);
    expect(text).toContain('NIST CURVE: P-256');
  });

  it('come with the user’s own authorities, and never with a key', async () => {
    await open();
    const bundle = readFileSync(env['SSL_CERT_FILE'] ?? '', 'utf8');
    expect(bundle).toContain(authority.certificatePem.trim());
    expect(bundle).toContain(kit.injection.opening?.authority.certificatePem);
    expect(bundle).not.toContain('PRIVATE');
    expect(env).toMatchObject({
      GIT_SSL_CAINFO: env['SSL_CERT_FILE'],
      PIP_CERT: env['SSL_CERT_FILE'],
    });
  });
});
