import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { TestAuthority } from '../inject/inject-kit.ts';
import { OTHER, runInWorld, WEB } from './world.ts';

let authority: TestAuthority;
let certificate: string;
beforeAll(() => {
  authority = new TestAuthority();
  const { key, cert } = authority.issue('DNS:api.example.org,DNS:other.example.org');
  certificate = authority.write('server.pem', `${key.toString()}${cert.toString()}`);
});
afterAll(() => authority[Symbol.dispose]());

const SECRET = 'tok-93ad0c41e7b85526';
const zone = { 'api.example.org': [WEB], 'other.example.org': [OTHER] };

const POLICY = `api_version: assay/v1
extends: [coding-agent]
env: { mode: passthrough }
net:
  allow: [api.example.org, other.example.org]
  inject:
    - { host: api.example.org, header: Authorization, env: API_TOKEN, tls: true }
    - { host: "other.example.org:80", header: Authorization, command: [/bin/echo, plain-value-5521] }
`;

/** Looks everywhere that a program can for what it must not find; finds itself, so the text is in two parts. */
const SEARCH = `
import os
secret = ("tok-93ad0c41" + "e7b85526").encode()
canary = ("can" + "ary-7711").encode()
found, looked = [], set()
for top in ["/proc", "/tmp", "/etc/ssl", "/run", os.environ["PWD"]]:
    for dir, dirs, files in os.walk(top):
        if dir.count("/") - top.count("/") > 3 or "/task" in dir: dirs.clear(); continue
        for name in files:
            if name in ("kmsg", "kcore", "trace_pipe", "pagemap", "mem", "clear_refs"): continue
            try:
                fd = os.open(os.path.join(dir, name), os.O_RDONLY | os.O_NONBLOCK)
                try:
                    text = os.read(fd, 1 << 20)
                    if secret in text: found.append(os.path.join(dir, name))
                    if canary in text: looked.add(name)
                finally:
                    os.close(fd)
            except OSError: pass
print("found", found, "looked", sorted(looked))
`;

describeForEachPerson('a header that is added outside', (person) => {
  const makePlace = usePlaces(person);

  async function run(
    script: string,
    options: { layers?: string; env?: Record<string, string> } = {},
  ) {
    const place = makePlace();
    const policy = place.write('policy.yaml', POLICY);
    place.write('work/run.sh', script);
    place.write('work/search.py', SEARCH);
    const extra = place.write('ca.pem', authority.certificatePem);
    const out = place.makeDir('out');
    const outputs = ['--profile', `${out}/run.yaml`, '--bundle', `${out}/run.tar.gz`];
    const layers = options.layers === undefined ? [] : ['--layers', options.layers];
    const outcome = await runInWorld({
      place,
      flags: ['--policy', policy, ...outputs, ...layers],
      command: ['/bin/sh', 'run.sh'],
      zone,
      certificate,
      env: options.env ?? {
        API_TOKEN: SECRET,
        COPY: `Bearer ${SECRET}`,
        CANARY: 'canary-7711',
        NODE_EXTRA_CA_CERTS: extra,
      },
    });
    return { place, ...outcome };
  }

  it('reaches its host over TLS, by every door, and no other host', async () => {
    const { stdout, credentials, stderr } = await run(`
      curl -sS https://api.example.org/ -H 'Authorization: forged'
      curl -sS --noproxy '*' https://api.example.org/
      env -u CURL_CA_BUNDLE -u SSL_CERT_FILE curl -sS https://api.example.org/
      curl -sS http://api.example.org/
      curl -sS http://other.example.org/
      curl -sSk https://other.example.org/
    `);
    expect(stderr).not.toContain('curl:');
    expect(stdout.split('\n').filter(Boolean)).toHaveLength(6);
    expect(credentials).toEqual([
      [`${WEB}:443`, SECRET],
      [`${WEB}:443`, SECRET],
      [`${WEB}:443`, SECRET],
      [`${WEB}:80`, null],
      [`${OTHER}:80`, 'plain-value-5521'],
      [`${OTHER}:443`, null],
    ]);
  });

  it('is found nowhere inside, and in nothing that is written', async () => {
    const { stdout, stderr, credentials, place } = await run(`
      env; echo canary-7711 > seen; /usr/bin/python3 search.py
      curl -sS https://api.example.org/
      curl -sS http://api.example.org/refused -X POST -H 'Content-Length: x'
    `);
    expect(credentials).toEqual([[`${WEB}:443`, SECRET]]);
    expect(stdout).toMatch(/found \[\] looked \[.*'environ'.*'seen'\]/);
    expect(stdout).not.toMatch(/^(?:API_TOKEN|COPY)=/m);
    const files = ['run.yaml', 'run.evidence.yaml'].map((name) => place.read(`out/${name}`));
    const bundle = gunzipSync(readFileSync(join(place.base, 'out/run.tar.gz'))).toString('latin1');
    for (const text of [stdout, stderr, bundle, ...files]) {
      expect(text.length).toBeGreaterThan(0);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('plain-value-5521');
    }
  });

  it.each(['-mount', '-nft', '-net', '-user,-mount,-pid,-net,-nft'])(
    'reaches its host with fewer layers, for programs that look at the variables: %s',
    async (layers) => {
      const { credentials, stderr, stdout } = await run(
        'env | grep -c "^API_TOKEN"; curl -sS https://api.example.org/',
        { layers },
      );
      expect(stderr).not.toContain('curl:');
      expect(stdout).toMatch(/^0\n/);
      expect(credentials).toEqual([[`${WEB}:443`, SECRET]]);
    },
  );

  it.each(['-pid', '-landlock,-pid', '-user,-mount,-pid,-net,-nft'])(
    'is found in no process, however few layers hide those of others: %s',
    async (layers) => {
      const { stdout } = await run('/usr/bin/python3 search.py', { layers });
      expect(stdout).toMatch(/found \[\] looked \[.*'environ'/);
    },
  );

  it('that cannot be had keeps the run from starting', async () => {
    const { stdout, stderr, code } = await run('echo started', { env: {} });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('E_INJECT_FAILED');
    expect(stderr).toContain('Authorization for api.example.org');
    expect(stderr).toContain('API_TOKEN is not set');
  });
});
