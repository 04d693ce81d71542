import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { VerifyReport } from '../../src/cli/evidence-verify/report.ts';
import { findMissing, makePemKey, makePlace, makeSshKey } from '../core/keys/make-keys.ts';
import { alterBundle, alterHeader, ASSAY, assayIn, type Ended, recordRun } from './signed-run.ts';

const missing = findMissing('openssl', 'ssh-keygen');
const INTEROP =
  process.env['ASSAY_INTEROP'] ?? join(import.meta.dirname, '../../../shared/interop');

const POLICY = "api_version: assay/v1\nfs: { read: ['${CWD}'], write: ['${CWD}/out'] }\n";
const place = makePlace();
const at = (name: string): string => join(place, name);
const verify = (...args: readonly string[]): Ended =>
  assayIn(place, ['evidence', 'verify', ...args]);

function verifyJson(...args: readonly string[]): VerifyReport {
  const { status, stdout } = verify(...args, '--json');
  const report = JSON.parse(stdout) as VerifyReport;
  expect(report.exitCode).toBe(status);
  return report;
}

/** Signs a copy of a bundle under another name, so that tests do not meet in one signature file. */
function signed(name: string, from = 'clean', ...args: readonly string[]): string {
  const bundle = `${name}.bundle.tar.gz`;
  cpSync(at(`${from}.bundle.tar.gz`), at(bundle));
  const { status, stderr } = assayIn(place, ['evidence', 'sign', bundle, '--key', 'ops', ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return bundle;
}

/** Leaves out what differs from machine to machine. */
function mask(text: string): string {
  return text.replaceAll(/sha256:\w+|sandbox_\w+|\d+ in sequence/g, '…');
}

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

function alterEnvelope(bundle: string, alter: (envelope: Envelope) => unknown): void {
  const file = at(`${bundle}.intoto.jsonl`);
  const envelope = JSON.parse(readFileSync(file, 'utf8')) as Envelope;
  const altered = alter(envelope);
  writeFileSync(file, typeof altered === 'string' ? altered : JSON.stringify(altered));
}

beforeAll(() => {
  const script = 'cat notes.txt > out/copy.txt';
  recordRun(place, 'clean', { policy: POLICY, script });
  recordRun(place, 'effects', { policy: POLICY, script, flags: ['--observe', 'effects'] });
  recordRun(place, 'dry', { policy: POLICY, script, flags: ['--dry-run'] });
  recordRun(place, 'denied', { policy: POLICY, script: 'echo > other.txt; exit 0' });
  recordRun(place, 'outside', {
    policy: POLICY.replace("'${CWD}/out'", `'${place}'`),
    script: `echo > ${place}/outside.txt`,
  });
  recordRun(place, 'open', { policy: `${POLICY}net: { allow: ['*'] }\n`, script });
  writeFileSync(at('policy.yaml'), POLICY);
  if (missing !== undefined) return;
  makePemKey(place, 'ops');
  makePemKey(place, 'eve');
  makeSshKey(place, 'ssh');
});

describe.skipIf(missing !== undefined)(`evidence verify${missing ? ` (${missing})` : ''}`, () => {
  it('notes that a run had no boundary', () => {
    expect(verify('dry.bundle.tar.gz').stdout).toMatch(/^! mode +a dry run: there was no/m);
    expect(verify('clean.bundle.tar.gz').stdout).not.toContain('dry run');
  });

  it('ends with 0 when it is intact, signed by a given key, and all holds', () => {
    const bundle = signed('good');
    const required = 'no-egress,no-denials,no-writes-outside-workspace,complete:files';
    const asked = ['--key', 'ops.pub', '-p', 'policy.yaml', '--require', required];
    const { status, stdout, stderr } = verify(bundle, ...asked);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(
      stdout
        .split('\n')
        .flatMap((line) => /^([✓✗!-]) (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? []),
    ).toEqual([
      '✓ container',
      '✓ manifest',
      '✓ events',
      '✓ run',
      '✓ run',
      '✓ identity',
      '✓ signature',
      '✓ subject',
      '✓ policy',
      '✓ coverage',
      '✓ no-egress',
      '✓ no-denials',
      '✓ no-writes-outside-workspace',
      '✓ complete:files',
    ]);
    expect(stdout).toContain(`${bundle}: intact and signed by ops.pub\nNot claimed: `);
  });

  it('prints what the page shows', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/evidence-verify.md'), 'utf8');
    const [command = '', output = '', difference = ''] = Array.from(
      page.matchAll(/^```\n([\s\S]*?)^```/gm),
      (found) => found[1] ?? '',
    );
    signed('run');
    writeFileSync(at('release.yaml'), POLICY.replace('/out', '/target'));
    const follow = (line: string): string =>
      mask(assayIn(place, line.trim().split(' ').slice(1)).stdout);
    expect(follow(command)).toBe(mask(output));
    expect(
      follow(command.replace('policy.yaml', 'release.yaml').replace(/ --require.*/, '')),
    ).toContain(mask(difference));
  });

  it('prints the same for programs', () => {
    const bundle = signed('json');
    expect(verifyJson(bundle, '--key', 'ops.pub', '-p', 'policy.yaml')).toMatchObject({
      schema: 'assay.evidence-verify.v1',
      bundle,
      verdict: 'intact and signed',
      exitCode: 0,
      subject: { kind: 'sandbox', runId: expect.stringMatching(/^sandbox_/) as string },
      signers: [{ file: 'ops.pub', subjectName: bundle }],
      policy: { file: 'policy.yaml', onlyInBundle: [], onlyInFile: [] },
      coverage: { network: { status: 'complete', reasons: [] } },
      error: null,
    });
  });

  it('reads standard input, with the signature of --signature', () => {
    const bundle = signed('stdin');
    const content = readFileSync(at(bundle));
    const asked = ['--key', 'ops.pub', '--signature', `${bundle}.intoto.jsonl`];
    for (const name of [[], ['-']])
      expect(assayIn(place, ['evidence', 'verify', ...name, ...asked], content)).toMatchObject({
        status: 0,
        stderr: '',
      });
    expect(assayIn(place, ['evidence', 'verify', '--key', 'ops.pub'], content).status).toBe(10);
  });

  it('takes SSH keys and an allowed_signers file, and names the principal', () => {
    const bundle = 'ssh.bundle.tar.gz';
    cpSync(at('clean.bundle.tar.gz'), at(bundle));
    assayIn(place, ['evidence', 'sign', bundle, '--key', 'ssh']);
    expect(verify(bundle, '--key', 'ssh.pub').status).toBe(0);
    writeFileSync(at('signers'), `alice@example ${readFileSync(at('ssh.pub'), 'utf8')}`);
    expect(verify(bundle, '--key', 'signers')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('intact and signed by alice@example') as string,
    });
    expect(verify(bundle, '--key', 'ops.pub', '--key', 'signers').status).toBe(0);
  });

  it('ends with 10 without a key, whatever signature is there, and without a signature', () => {
    const bundle = signed('nokey');
    expect(verify(bundle)).toMatchObject({
      status: 10,
      stdout: expect.stringContaining(`${bundle}: intact, signer unknown`) as string,
    });
    expect(verify('clean.bundle.tar.gz', '--key', 'ops.pub').status).toBe(10);
  });

  describe('ends with 11 for', () => {
    it.each<[string, (envelope: Envelope) => unknown, string]>([
      ['an altered payload', (one) => ({ ...one, payload: `e30K${one.payload}` }), 'signature'],
      ['a payload cut off', (one) => ({ ...one, payload: one.payload.slice(1) }), 'signature'],
      ['a swapped payload type', (one) => ({ ...one, payloadType: 'text/plain' }), 'signature'],
      [
        'a member twice',
        (one) => JSON.stringify(one).replace('{', '{"payloadType":"x",'),
        'signature',
      ],
      ['a garbage signature', (one) => ({ ...one, signatures: [{ sig: 'AAAA' }] }), 'signature'],
      [
        'a signature of zeros',
        (one) => ({ ...one, signatures: [{ sig: Buffer.alloc(64).toString('base64') }] }),
        'signature',
      ],
      ['no signature in the envelope', (one) => ({ ...one, signatures: [] }), 'signature'],
      ['an empty file', () => ' \n', 'signature'],
      ['no JSON', () => 'signed, honestly', 'signature'],
      ['a file that is too large', () => ' '.repeat(4 * 1024 * 1024 + 1), 'signature'],
    ])('%s', (name, alter, check) => {
      const bundle = signed(name.replaceAll(' ', '-'));
      alterEnvelope(bundle, alter);
      const { verdict, exitCode, checks, signers } = verifyJson(bundle, '--key', 'ops.pub');
      expect({ verdict, exitCode, signers }).toEqual({
        verdict: 'signature wrong',
        exitCode: 11,
        signers: [],
      });
      expect(
        checks.filter(({ status }) => status === 'failed').map(({ name: one }) => one),
      ).toEqual([check]);
    });

    it('another key than that of the signer, under its key id', () => {
      const bundle = signed('eve');
      expect(verify(bundle, '--key', 'eve.pub').status).toBe(11);
      assayIn(place, ['evidence', 'sign', bundle, '--key', 'eve', '-o', 'eve.jsonl']);
      const { keyid } = (JSON.parse(readFileSync(at(`${bundle}.intoto.jsonl`), 'utf8')) as Envelope)
        .signatures[0] ?? { keyid: '' };
      const forged = readFileSync(at('eve.jsonl'), 'utf8').replace(/sha256:\w+/, keyid);
      writeFileSync(at('forged.jsonl'), forged);
      expect(verify(bundle, '--key', 'ops.pub', '--signature', 'forged.jsonl').status).toBe(11);
      expect(verify(bundle, '--key', 'eve.pub', '--signature', 'forged.jsonl').status).toBe(0);
    });

    it('the signature of another bundle, with the subject named', () => {
      const bundle = signed('mine');
      const other = signed('theirs', 'denied');
      const swapped = ['--signature', `${other}.intoto.jsonl`];
      const { exitCode, checks } = verifyJson(bundle, '--key', 'ops.pub', ...swapped);
      expect(exitCode).toBe(11);
      expect(checks).toContainEqual({
        name: 'subject',
        status: 'failed',
        detail: expect.stringContaining('it is about a file with SHA-256') as string,
      });
    });
  });

  it('takes any one good signature among several, and a renamed bundle', () => {
    const bundle = signed('several');
    assayIn(place, ['evidence', 'sign', bundle, '--key', 'eve']);
    for (const key of ['ops.pub', 'eve.pub']) expect(verify(bundle, '--key', key).status).toBe(0);
    expect(verify(bundle, '--key', 'ssh.pub').status).toBe(11);
    cpSync(at(bundle), at('renamed.tar.gz'));
    const elsewhere = ['--signature', `${bundle}.intoto.jsonl`];
    expect(verifyJson('renamed.tar.gz', '--key', 'ops.pub', ...elsewhere)).toMatchObject({
      exitCode: 0,
      signers: [{ subjectName: bundle }],
    });
  });
});

describe('evidence verify', () => {
  it('ends with 12 for another policy, with both digests and the rules that differ', () => {
    writeFileSync(at('other.yaml'), POLICY.replace('out', 'elsewhere'));
    const { status, stdout } = verify('clean.bundle.tar.gz', '-p', 'other.yaml');
    expect(status).toBe(12);
    expect(stdout).toMatch(/✗ policy +ran under sha256:\w{64}, other\.yaml is sha256:\w{64}\n/);
    expect(stdout).toContain('only in the bundle: fs.write: ${CWD}/out\n');
    expect(stdout).toContain('only in other.yaml: fs.write: ${CWD}/elsewhere\n');
    expect(verify('clean.bundle.tar.gz', '-p', 'policy.yaml').status).toBe(10);
  });

  it.each([
    ['denied', 'no-denials', 'write ${CWD}/other.txt'],
    ['outside', 'no-writes-outside-workspace', 'outside.txt'],
  ])('ends with 13 for the run "%s" and %s', (run, requirement, example) => {
    const { status, stdout } = verify(`${run}.bundle.tar.gz`, '--require', requirement);
    expect(status).toBe(13);
    expect(stdout).toMatch(new RegExp(`✗ ${requirement} .*${example.replaceAll(/[${}]/g, '.')}`));
  });

  it.each([
    ['effects', 'complete:files', 'reads absent (not watched at --observe effects)'],
    ['effects', 'no-denials', 'reads absent'],
    ['open', 'no-egress', 'network partial (datagrams'],
  ])('ends with 14 for the run "%s" and %s', (run, requirement, reason) => {
    const { status, stdout } = verify(`${run}.bundle.tar.gz`, '--require', requirement);
    expect(status).toBe(14);
    expect(stdout).toContain(reason);
  });

  it('chooses among several by the order that the page gives', () => {
    const all = ['--require', 'complete:files,no-writes-outside-workspace', '-p', 'policy.yaml'];
    expect(verify('outside.bundle.tar.gz', ...all).status).toBe(12);
    const some = ['--require', 'no-egress,no-writes-outside-workspace'];
    expect(verify('outside.bundle.tar.gz', ...some).status).toBe(13);
    expect(verify('outside.bundle.tar.gz', '--require', 'no-egress').status).toBe(10);
  });

  it.each<[number, string, string, (to: string) => void]>([
    [
      1,
      'E_EVIDENCE_INTEGRITY',
      'an altered event',
      (to) => {
        alterBundle(at('clean.bundle.tar.gz'), to, (tar) => {
          tar[tar.lastIndexOf('copy.txt')] = 0x43;
          return tar;
        });
      },
    ],
    [
      2,
      'E_EVIDENCE_CONTRACT',
      'a manifest that is no object',
      (to) => {
        alterBundle(at('clean.bundle.tar.gz'), to, (tar) => {
          tar[512] = 0x5b;
          return tar;
        });
      },
    ],
    [
      5,
      'E_EVIDENCE_LIMIT_EXCEEDED',
      'a manifest of many bytes',
      (to) => {
        alterBundle(at('clean.bundle.tar.gz'), to, (tar) => {
          alterHeader(tar, 124, '00077777777');
          return tar;
        });
      },
    ],
    [
      6,
      'E_EVIDENCE_PATH_REJECTED',
      'a member outside',
      (to) => {
        alterBundle(at('clean.bundle.tar.gz'), to, (tar) => {
          alterHeader(tar, 0, '../../x/y.json\0');
          return tar;
        });
      },
    ],
    [7, 'E_EVIDENCE_UNREADABLE', 'no gzip', (to) => writeFileSync(to, 'hello')],
    [
      7,
      'E_EVIDENCE_UNREADABLE',
      'a bundle cut off',
      (to) => {
        const whole = readFileSync(at('clean.bundle.tar.gz'));
        writeFileSync(to, whole.subarray(0, whole.length / 2));
      },
    ],
    [7, 'E_EVIDENCE_UNREADABLE', 'nothing there', (to) => rmSync(to, { force: true })],
  ])('ends with %d and %s for %s', (code, reason, _, make) => {
    make(at('bad.tar.gz'));
    const { status, stdout, stderr } = verify('bad.tar.gz');
    expect({ status, stdout }).toEqual({ status: code, stdout: '' });
    expect(stderr).toContain(`\n${reason}\n`);
    const { exitCode, verdict, subject, error } = verifyJson('bad.tar.gz');
    expect({ exitCode, verdict, subject }).toEqual({
      exitCode: code,
      verdict: 'not intact',
      subject: null,
    });
    expect(error).toMatchObject({ reason });
  });

  it.each<[string, readonly string[], string]>([
    ['an unknown requirement', ['--require', 'no-harm'], 'There is no requirement "no-harm"'],
    ['a key that is not there', ['--key', 'none.pub'], 'Cannot read the key "none.pub"'],
    ['a key that is none', ['--key', 'policy.yaml'], 'Cannot use "policy.yaml" as a key'],
    ['a signature that is not there', ['--signature', 'none'], 'Cannot read the signature "none"'],
    ['a policy that is not there', ['-p', 'none.yaml'], 'Cannot read the policy "none.yaml"'],
  ])('ends with 2 for %s, before the bundle is read', (_, args, message) => {
    const { status, stdout, stderr } = verify('none.tar.gz', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('ends with 3 when assay itself fails', () => {
    const copy = at('copy');
    for (const part of ['bin', 'dist'])
      cpSync(join(ASSAY, '../..', part), join(copy, part), { recursive: true });
    const chunks = join(copy, 'dist/chunks');
    for (const name of readdirSync(chunks))
      if (name.startsWith('evidence-verify-')) rmSync(join(chunks, name));
    const broken = spawnSync(join(copy, 'bin/assay.js'), ['evidence', 'verify', 'x'], {
      encoding: 'utf8',
    });
    expect(broken.status).toBe(3);
    expect(broken.stderr).toContain('\nE_INTERNAL\n');
  });

  const sample = join(INTEROP, 'derived/derived-sandbox-true.bundle.tar.gz');
  it.skipIf(!existsSync(sample))('takes the older format, and promises nothing for it', () => {
    const { status, stdout } = verify(sample);
    expect(status).toBe(10);
    expect(stdout).toMatch(/^! identity +not bound/m);
    for (const requirement of ['no-egress', 'no-writes-outside-workspace', 'complete:files'])
      expect(verify(sample, '--require', requirement).status).toBe(14);
    expect(verify(sample, '-p', 'policy.yaml')).toMatchObject({
      status: 12,
      stdout: expect.stringContaining('does not say under which policy') as string,
    });
  });
});
