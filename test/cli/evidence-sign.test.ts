import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import { findMissing, makePemKey, makePlace, makeSshKey, runTool } from '../core/keys/make-keys.ts';
import { alterBundle, assayIn, type Ended, recordRun } from './signed-run.ts';

const missing = findMissing('openssl', 'ssh-keygen');
const POLICY = "api_version: assay/v1\nfs: { read: ['${CWD}'], write: ['${CWD}/out'] }\n";
const place = makePlace();
const at = (name: string): string => join(place, name);
const sign = (...args: readonly string[]): Ended => assayIn(place, ['evidence', 'sign', ...args]);

interface Statement {
  readonly _type: string;
  readonly subject: readonly unknown[];
  readonly predicateType: string;
  readonly predicate: Readonly<Record<string, unknown>>;
}

interface Line {
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

function readLines(file: string): Line[] {
  return readFileSync(at(file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

function readStatement(line: Line | undefined): Statement {
  return JSON.parse(Buffer.from(line?.payload ?? '', 'base64').toString()) as Statement;
}

/** A copy, so that tests do not meet in one signature file. */
function copy(name: string): string {
  cpSync(at('run.bundle.tar.gz'), at(name));
  return name;
}

beforeAll(() => {
  const script = 'cat notes.txt > out/copy.txt; echo > other.txt; exit 0';
  recordRun(place, 'run', { policy: POLICY, script });
  recordRun(place, 'later', { policy: POLICY, script: 'cat notes.txt' });
  if (missing !== undefined) return;
  makePemKey(place, 'ops');
  makePemKey(place, 'eve');
  makeSshKey(place, 'id_ed25519');
});

describe.skipIf(missing !== undefined)(`evidence sign${missing ? ` (${missing})` : ''}`, () => {
  it('writes one statement about the bytes of the bundle', () => {
    const bundle = copy('one.tar.gz');
    const { status, stdout, stderr } = sign(bundle, '--key', 'ops');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const sha256 = sha256Hex(readFileSync(at(bundle)));
    expect(stdout).toContain(`Signed ${bundle}\n  SHA-256    ${sha256}\n`);
    const [line, ...more] = readLines(`${bundle}.intoto.jsonl`);
    expect(more).toEqual([]);
    expect(line?.payloadType).toBe('application/vnd.in-toto+json');
    const statement = readStatement(line);
    expect(canonicalJson(statement)).toBe(Buffer.from(line?.payload ?? '', 'base64').toString());
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: bundle, digest: { sha256 } }],
      predicateType: 'urn:assay:attestation:sandbox-run/v1',
      predicate: {
        bundleFormat: 'assay.sandbox-bundle.v1',
        mode: 'containment',
        runId: expect.stringMatching(/^sandbox_\w{16}$/) as string,
        runRoot: expect.stringMatching(/^sha256:\w{64}$/) as string,
        producer: { name: 'assay' },
        policy: { digest: expect.stringMatching(/^sha256:\w{64}$/) as string },
        coverage: { reads: 'complete', changes: 'complete', network: 'complete' },
      },
    });
    expect(readdirSync(place).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('makes the same signature again, and adds that of another key', () => {
    const bundle = copy('again.tar.gz');
    sign(bundle, '--key', 'ops');
    const first = readFileSync(at(`${bundle}.intoto.jsonl`));
    expect(sign(bundle, '--key', 'ops').stdout).toContain('was signed with this key before');
    expect(readFileSync(at(`${bundle}.intoto.jsonl`))).toEqual(first);
    expect(sign(bundle, '--key', 'eve').stdout).toContain('Signed');
    const [line, ...more] = readLines(`${bundle}.intoto.jsonl`);
    expect(more).toEqual([]);
    expect(line?.signatures).toHaveLength(2);
  });

  it('replaces its own statement when the bundle was made anew', () => {
    const bundle = copy('anew.tar.gz');
    sign(bundle, '--key', 'ops', '--predicate', 'both');
    cpSync(at('later.bundle.tar.gz'), at(bundle));
    sign(bundle, '--key', 'ops', '--predicate', 'both');
    expect(readLines(`${bundle}.intoto.jsonl`)).toHaveLength(2);
    expect(assayIn(place, ['evidence', 'verify', bundle, '--key', 'ops.pub']).status).toBe(0);
  });

  it('writes a runtime trace that in-toto knows, filled from the bundle', () => {
    const bundle = copy('trace.tar.gz');
    sign(bundle, '--key', 'ops', '--predicate', 'runtime-trace', '-o', 'trace.jsonl');
    const { predicateType, predicate } = readStatement(readLines('trace.jsonl')[0]);
    expect(predicateType).toBe('https://in-toto.io/attestation/runtime-trace/v0.1');
    expect(predicate).toMatchObject({
      monitor: {
        type: 'urn:assay:monitor:sandbox/v1',
        configSource: { digest: { sha256: expect.stringMatching(/^\w{64}$/) as string } },
        tracePolicy: { level: 'all', coverage: { reads: 'complete' } },
      },
      monitoredProcess: {
        hostID: 'urn:assay:host:not-recorded',
        event: expect.stringMatching(/^sandbox_/) as string,
      },
      monitorLog: {
        process: expect.arrayContaining([
          expect.objectContaining({ processBinary: '/usr/bin/dash', parentBinary: 'assay' }),
        ]) as unknown,
        network: [],
        fileAccess: expect.arrayContaining([
          {
            name: '${CWD}/other.txt',
            annotations: expect.objectContaining({ op: 'write', refusedBy: '' }) as unknown,
          },
          {
            name: '${CWD}/out/copy.txt',
            annotations: expect.objectContaining({ op: 'write', outcome: 'ok' }) as unknown,
          },
        ]) as unknown,
        assay_omitted: { process: 0, network: 0, fileAccess: 0 },
      },
    });
    expect(
      assayIn(place, [
        'evidence',
        'verify',
        bundle,
        '--key',
        'ops.pub',
        '--signature',
        'trace.jsonl',
      ]).status,
    ).toBe(0);
  });

  it('prints JSON', () => {
    const bundle = copy('json.tar.gz');
    const { stdout } = sign(bundle, '--key', 'ops', '--json', '--predicate', 'both');
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'assay.evidence-sign.v1',
      bundle,
      output: `${bundle}.intoto.jsonl`,
      added: 2,
    });
  });

  it('does not write a file that is too large to be verified', () => {
    const bundle = copy('full.tar.gz');
    sign(bundle, '--key', 'eve');
    const file = at(`${bundle}.intoto.jsonl`);
    const line = readFileSync(file, 'utf8');
    writeFileSync(file, line.repeat(64).replaceAll('"payload":"ey', '"payload":"ew'));
    const { status, stderr } = sign(bundle, '--key', 'ops');
    expect(status).toBe(2);
    expect(stderr).toContain('it has more than 64 lines');
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(65);
  });

  it('does not sign what is not intact', () => {
    alterBundle(at('run.bundle.tar.gz'), at('altered.tar.gz'), (tar) => {
      tar[tar.lastIndexOf('copy.txt')] = 0x43;
      return tar;
    });
    expect(sign('altered.tar.gz', '--key', 'ops')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('E_EVIDENCE_INTEGRITY') as string,
    });
    expect(sign('none.tar.gz', '--key', 'ops').status).toBe(7);
    expect(readdirSync(place).filter((name) => /^\.|(?:altered|none).*jsonl/.test(name))).toEqual(
      [],
    );
  });

  it.each<[string, readonly string[], string]>([
    ['no key', ['run.bundle.tar.gz'], '`evidence sign` needs --key'],
    ['a public key', ['run.bundle.tar.gz', '--key', 'ops.pub'], 'it is a public key'],
    ['a key that is not there', ['run.bundle.tar.gz', '--key', 'none'], 'Cannot read the key'],
    ['standard input', ['-', '--key', 'ops'], 'Cannot sign what comes from standard input'],
    [
      'a place that cannot be written',
      ['run.bundle.tar.gz', '--key', 'ops', '-o', 'none/x'],
      'Cannot write the signature',
    ],
    [
      'a signature file that is none',
      ['run.bundle.tar.gz', '--key', 'ops', '-o', 'id_ed25519.pub'],
      'Cannot add a signature to "id_ed25519.pub"',
    ],
  ])('ends with 2 for %s', (_, args, message) => {
    const { status, stderr } = sign(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe.skipIf(missing !== undefined)(
  `the recipes of the page${missing ? ` (${missing})` : ''}`,
  () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/evidence-sign.md'), 'utf8');
    const [check = '', convert = ''] = Array.from(
      page.matchAll(/^```sh\n([\s\S]*?)^```/gm),
      (found) => found[1] ?? '',
    );
    const VERIFIED = 'Signature Verified Successfully\nIt is about these bytes\n';

    /** An own directory, with what the page says is there. */
    function prepare(name: string, key: string): string {
      const directory = at(name);
      mkdirSync(directory);
      cpSync(at('run.bundle.tar.gz'), join(directory, 'run.bundle.tar.gz'));
      assayIn(directory, ['evidence', 'sign', 'run.bundle.tar.gz', '--key', at(key)]);
      return directory;
    }

    function follow(directory: string, ...recipes: readonly string[]): string {
      const script = recipes.join('\n');
      return spawnSync('/bin/sh', ['-c', script], { cwd: directory, encoding: 'utf8' }).stdout;
    }

    it('verify a signature with openssl alone', () => {
      const directory = prepare('with-pem', 'ops');
      cpSync(at('ops.pub'), join(directory, 'ops.pub'));
      expect(follow(directory, check)).toBe(VERIFIED);
    });

    it('verify the signature of an SSH key', () => {
      const directory = prepare('with-ssh', 'id_ed25519');
      cpSync(at('id_ed25519.pub'), join(directory, 'id_ed25519.pub'));
      expect(follow(directory, convert, check)).toBe(VERIFIED);
    });

    it('refuse another key, an altered statement and another bundle', () => {
      const directory = prepare('refused', 'ops');
      cpSync(at('eve.pub'), join(directory, 'ops.pub'));
      expect(follow(directory, check)).not.toContain('Verified');
      cpSync(at('ops.pub'), join(directory, 'ops.pub'));
      cpSync(at('later.bundle.tar.gz'), join(directory, 'run.bundle.tar.gz'));
      expect(follow(directory, check)).toBe('Signature Verified Successfully\n');
      const file = join(directory, 'run.bundle.tar.gz.intoto.jsonl');
      writeFileSync(file, readFileSync(file, 'utf8').replace('"payload":"ey', '"payload":"ew'));
      expect(follow(directory, check)).not.toContain('Verified');
    });
  },
);

describe('a pipe where the signature would be', () => {
  it('is not waited for', () => {
    const bundle = copy('piped.tar.gz');
    runTool('mkfifo', at(`${bundle}.intoto.jsonl`));
    expect(assayIn(place, ['keygen', 'pipe-key']).status).toBe(0);
    for (const args of [
      ['sign', bundle, '--key', 'pipe-key'],
      ['verify', bundle, '--key', 'pipe-key.pub'],
    ])
      expect(assayIn(place, ['evidence', ...args])).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('it is not a regular file') as string,
      });
    expect(assayIn(place, ['evidence', 'verify', bundle]).status).toBe(10);
  });
});

describe('keygen', () => {
  it('writes a pair that only its owner can read, and prints the key id', () => {
    const { status, stdout } = assayIn(place, ['keygen', 'new']);
    expect(status).toBe(0);
    const id = /^Key id: (sha256:\w{64})$/m.exec(stdout)?.[1];
    expect(statSync(at('new')).mode & 0o777).toBe(0o600);
    expect(readFileSync(at('new'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(readFileSync(at('new.pub'), 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    if (missing !== undefined) return;
    const der = runTool('openssl', 'pkey', '-in', at('new'), '-pubout', '-outform', 'DER');
    expect(id).toBe(`sha256:${sha256Hex(der)}`);
    expect(runTool('openssl', 'pkey', '-in', at('new'), '-pubout').toString()).toBe(
      readFileSync(at('new.pub'), 'utf8'),
    );
  });

  it('prints JSON', () => {
    const { stdout } = assayIn(place, ['keygen', 'json-key', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      schema: 'assay.keygen.v1',
      algorithm: 'ed25519',
      keyId: expect.stringMatching(/^sha256:\w{64}$/) as string,
      privateKey: 'json-key',
      publicKey: 'json-key.pub',
    });
  });

  it.each([
    ['taken', 'taken'],
    ['half', 'half.pub'],
  ])('overwrites nothing (%s)', (name, existing) => {
    writeFileSync(at(existing), 'precious');
    const { status, stderr } = assayIn(place, ['keygen', name]);
    expect(status).toBe(2);
    expect(stderr).toContain(`Cannot write a key to "${existing}": it is there already`);
    expect(readFileSync(at(existing), 'utf8')).toBe('precious');
    expect(readdirSync(place).filter((one) => one.startsWith(name))).toEqual([existing]);
  });

  it('says where it cannot write', () => {
    const { status, stderr } = assayIn(place, ['keygen', 'none/key']);
    expect(status).toBe(2);
    expect(stderr).toContain('Cannot write a key to "none/key"');
  });
});
