import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coverage, degraded, file, network, program } from '../evidence/diff/make-sides.ts';
import { makeBundle, type RunDraft } from '../evidence/diff/make-bundle.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');
const place = mkdtempSync(join(tmpdir(), 'assay-diff-'));
const path = (name: string): string => join(place, `${name}.tar.gz`);
const DENIED = { outcome: 'EACCES', refused_by: 'fs.deny: ${HOME}/.ssh' };

const BUNDLES: Readonly<Record<string, RunDraft>> = {
  base: { facts: [file('write', '${CWD}/out')] },
  later: { facts: [file('write', '${CWD}/out')], day: 2 },
  host: { facts: [file('write', '${CWD}/out'), network('connect', 'tcp:203.0.113.7:443')] },
  program: { facts: [file('write', '${CWD}/out'), program('/usr/bin/curl')] },
  outside: { facts: [file('write', '${CWD}/out'), file('write', '${HOME}/x')] },
  config: { facts: [file('write', '${CWD}/out'), file('write', '${CWD}/.git/hooks/a')] },
  denial: { facts: [file('write', '${CWD}/out'), file('read', '${HOME}/.ssh/id', DENIED)] },
  coverage: {
    facts: [file('write', '${CWD}/out')],
    coverage: coverage(
      {
        reads: 'partial',
        changes: 'complete',
        programs: 'complete',
        network: 'absent',
        environment: 'complete',
      },
      'lost',
    ),
  },
  degraded: { facts: [file('write', '${CWD}/out'), degraded('fs.deny: /a', 'no layer')] },
  policy: { facts: [file('write', '${CWD}/out')], policy: { fs: { read: ['/'] } } },
};

function assay(...args: readonly string[]): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  const { status, stdout, stderr } = spawnSync(ASSAY, ['evidence', ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

beforeAll(async () => {
  for (const [name, draft] of Object.entries(BUNDLES))
    writeFileSync(path(name), await makeBundle(draft));
});
afterAll(() => rmSync(place, { recursive: true }));

describe('evidence diff', () => {
  it('finds nothing in runs that differ in their times only', () => {
    const { status, stdout } = assay('diff', path('base'), path('later'), '--fail-on', 'any');
    expect(readFileSync(path('base')).equals(readFileSync(path('later')))).toBe(false);
    expect(stdout).toContain('No differences.\nGate passed: no difference\n');
    expect(status).toBe(0);
  });

  it.each([
    ['new-host', 'host'],
    ['new-program', 'program'],
    ['new-write-outside', 'outside'],
    ['new-write-config', 'config'],
    ['new-denial', 'denial'],
    ['coverage-loss', 'coverage'],
    ['degradation', 'degraded'],
    ['policy-change', 'policy'],
    ['policy-weakened', 'policy'],
    ['any', 'host'],
  ])('fails on %s when it appears, and only then', (kind, name) => {
    const found = assay('diff', path('base'), path(name), '--fail-on', kind);
    expect(found.stdout).toMatch(new RegExp(`Gate failed: ${kind} \\(\\d\\)`));
    expect(found.status).toBe(1);
    // Seen from the other side it is gone, which is no reason to fail.
    const gone = assay('diff', path(name), path('base'), '--fail-on', kind);
    expect(gone.status).toBe(
      kind === 'any' || kind === 'policy-change' || name === 'policy' ? 1 : 0,
    );
    const other = kind === 'new-host' ? 'new-program' : 'new-host';
    if (kind !== 'any')
      expect(assay('diff', path('base'), path(name), '--fail-on', other).status).toBe(0);
    expect(assay('diff', path('base'), path(name)).status).toBe(0);
  });

  it('says which of several kinds appear', () => {
    const list = 'new-host,new-denial,coverage-loss';
    const { stdout } = assay('diff', path('base'), path('denial'), '--fail-on', list);
    expect(stdout).toContain('Gate failed: new-denial (1)\n');
  });

  it('says that a gate which passes proves nothing where nobody looked', () => {
    const { stdout, status } = assay(
      'diff',
      path('coverage'),
      path('coverage'),
      '--fail-on',
      'new-host',
    );
    expect(stdout).toContain('Not everything was watched');
    expect(stdout).toContain('Gate passed: no new-host, but the coverage of network is absent');
    expect(status).toBe(0);
  });

  it('prints JSON, and writes to a file', () => {
    const { stdout, stderr } = assay(
      'diff',
      path('base'),
      path('host'),
      '--format',
      'json',
      '--fail-on',
      'new-host',
    );
    const found = JSON.parse(stdout) as Record<string, unknown>;
    expect(stderr).toBe('assay: Gate failed: new-host (1)\n');
    expect(found).toMatchObject({
      schema: 'assay.evidence-diff.v1',
      equal: false,
      comparison_scope: { absence_completeness: 'established' },
      gate: { passed: false, failed: [{ kind: 'new-host', count: 1 }] },
      network: { added: ['tcp:203.0.113.7:443'], removed: [], changed: [] },
    });
    const output = join(place, 'diff.json');
    expect(assay('diff', path('base'), path('host'), '--format', 'json', '-o', output).stdout).toBe(
      '',
    );
    expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual({ ...found, gate: null });
    rmSync(output);
  });

  it('takes one of the two from standard input', () => {
    const input = readFileSync(path('host'));
    const stdout = execFileSync(ASSAY, ['evidence', 'diff', path('base'), '-'], {
      input,
      encoding: 'utf8',
    });
    expect(stdout).toContain('New egress (1)');
    expect(assay('diff', '-', '-')).toMatchObject({ status: 2 });
  });

  it.each([
    ['one bundle only', ['base'], 'needs two bundles'],
    ['an unknown kind', ['base', 'host', '--fail-on', 'new-hosts'], 'did you mean new-host?'],
    ['a directory without a key', ['base', '--baseline-dir', place], 'belong together'],
    ['storing without a place', ['base', '--write-baseline'], 'needs --baseline-dir and --key'],
    [
      'a gate while storing',
      ['base', '--baseline-dir', place, '--key', 'k', '--write-baseline', '--fail-on', 'any'],
      'exclude each other',
    ],
  ])('refuses %s', (_, args, message) => {
    const { status, stderr } = assay(
      'diff',
      ...args.map((arg) => (arg in BUNDLES ? path(arg) : arg)),
    );
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  it('compares nothing that is not intact, whichever of the two it is', () => {
    const bad = path('bad');
    const bytes = readFileSync(path('base'));
    writeFileSync(bad, bytes.subarray(0, bytes.length - 20));
    for (const args of [
      [path('base'), bad],
      [bad, path('base')],
    ]) {
      const { status, stdout, stderr } = assay('diff', ...args);
      expect({ status, stdout }).toEqual({ status: 7, stdout: '' });
      expect(stderr).toContain('bad.tar.gz');
    }
    rmSync(bad);
  });
});

describe('a stored baseline', () => {
  const store = join(place, 'store');
  const stored = ['--baseline-dir', store, '--key', 'main'];

  it('is made once, compared with, and replaced when asked for', () => {
    expect(assay('diff', path('base'), ...stored)).toMatchObject({ status: 2 });
    expect(assay('diff', path('base'), ...stored, '--write-baseline').status).toBe(0);
    expect(readFileSync(join(store, 'main.tar.gz')).equals(readFileSync(path('base')))).toBe(true);
    const again = assay('diff', path('host'), ...stored, '--write-baseline');
    expect(again.stderr).toContain('There is a baseline already');
    expect(again.status).toBe(2);
    expect(assay('diff', path('host'), ...stored, '--fail-on', 'new-host').status).toBe(1);
    expect(assay('diff', path('host'), ...stored, '--update-baseline').status).toBe(0);
    expect(assay('diff', path('host'), ...stored, '--fail-on', 'any').status).toBe(0);
    expect(readdirSync(store)).toEqual(['main.tar.gz']);
  });

  it('is never one that is not intact', () => {
    const bad = path('cut');
    writeFileSync(bad, readFileSync(path('base')).subarray(0, 200));
    const key = ['--baseline-dir', store, '--key', 'other'];
    const refused = assay('diff', bad, ...key, '--write-baseline');
    expect(refused.status).toBe(7);
    expect(refused.stderr).toContain('cut.tar.gz: ');
    expect(assay('diff', `${bad}.not`, ...key, '--write-baseline').status).toBe(7);
    expect(assay('diff', bad, ...stored, '--update-baseline').status).toBe(7);
    expect(readdirSync(store)).toEqual(['main.tar.gz']);
    rmSync(bad);
  });

  it.each(['a/b', 'a\\b', '..', 'a..b', '.a', 'a\nb', 'a\u202eb', 'a\u007f'])(
    'has no key like %j',
    (key) => {
      const args = ['--baseline-dir', join(place, 'keys'), '--key', key, '--write-baseline'];
      const { status, stderr } = assay('diff', path('base'), ...args);
      expect(stderr).toContain('--key cannot be');
      expect(status).toBe(2);
      expect(existsSync(join(place, 'keys'))).toBe(false);
    },
  );
});
