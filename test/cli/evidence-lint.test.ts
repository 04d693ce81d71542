import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSampleBundle } from '../evidence/bundle/sample-run.ts';

const ROOT = join(import.meta.dirname, '../..');
const ASSAY = join(ROOT, 'bin/assay.js');
const EXAMPLE = join(ROOT, 'examples/packs/kept-evidence.yaml');
/** Bundles and packs of another implementation, where they lie beside the checkout. */
const INTEROP = process.env['ASSAY_INTEROP'] ?? join(ROOT, '../shared/interop');
const hasInterop = existsSync(INTEROP);

const place = mkdtempSync(join(tmpdir(), 'assay-lint-'));
const bundle = join(place, 'run.bundle.tar.gz');

beforeAll(async () => writeFileSync(bundle, await makeSampleBundle()));
afterAll(() => rmSync(place, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lint(args: readonly string[], input?: Uint8Array): Outcome {
  const { status, stdout, stderr } = spawnSync(ASSAY, ['evidence', 'lint', ...args], {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, XDG_CONFIG_HOME: join(place, 'config') },
    ...(input ? { input } : {}),
  });
  return { code: status, stdout, stderr };
}

interface Document {
  readonly packs: readonly { readonly id: string; readonly summary: { readonly total: number } }[];
  readonly findings: readonly {
    readonly rule_id: string;
    readonly severity: string;
    readonly pack: string;
    readonly place: string;
  }[];
}

function lintJson(args: readonly string[]): Document {
  return JSON.parse(lint([...args, '--format', 'json', '--fail-on', 'none']).stdout) as Document;
}

describe('evidence lint', () => {
  it('prints findings, and the same from standard input', () => {
    const { code, stdout, stderr } = lint([bundle, '--fail-on', 'none']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('warning ASSAY-HON-005  A rule was not enforced');
    expect(stdout).toContain('warning ASSAY-REF-001  A connection was refused');
    const piped = lint(['-', '--fail-on', 'none'], readFileSync(bundle));
    expect(piped.stdout.replace('standard input', bundle)).toBe(stdout);
  });

  it.each([
    [['--fail-on', 'error'], 1],
    [[], 1],
    [['--fail-on', 'warn'], 1],
    [['--fail-on', 'none'], 0],
  ])('exits with the code of the threshold: %j', (flags, code) => {
    // The sample states what its coverage does not support.
    expect(lint([bundle, ...flags]).code).toBe(code);
  });

  it('writes to a file, and leaves it alone when the bundle is bad', () => {
    const output = join(place, 'lint.sarif');
    expect(lint([bundle, '--format', 'sarif', '--output', output]).stdout).toBe('');
    const text = readFileSync(output, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ version: '2.1.0' });
    writeFileSync(join(place, 'bad.tar.gz'), readFileSync(bundle).subarray(0, 500));
    const { code, stderr } = lint(['bad.tar.gz', '--format', 'sarif', '--output', output]);
    expect(code).toBe(7);
    expect(stderr).toContain('E_EVIDENCE_UNREADABLE');
    expect(readFileSync(output, 'utf8')).toBe(text);
    expect(readdirSync(place).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('explains a rule without a bundle, in any case, also one of a pack', () => {
    const { code, stdout } = lint(['--explain', 'assay-ctl-001']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ASSAY-CTL-001: Wrote configuration that runs later\n/);
    expect(lint(['--explain', 'KEPT-002', '--pack', EXAMPLE]).stdout).toContain(
      'kept-evidence@1.0.0',
    );
    const json = lint(['--explain', 'ASSAY-W001', '--format', 'json']).stdout;
    expect(JSON.parse(json)).toMatchObject({ id: 'ASSAY-W001', security_severity: '7.0' });
  });

  it.each<[string, readonly string[], string]>([
    ['an unknown rule', ['--explain', 'ASSAY-CTL-01'], 'Did you mean ASSAY-CTL-001?'],
    ['no bundle', [], 'No bundle is named'],
    ['a number that is none', ['x', '--max-results', '0'], 'is not a number of findings'],
    ['a pack that is not there', ['x', '--pack', 'nothing'], 'There is no rule pack "nothing"'],
    ['a pack that leads out', ['x', '--pack', '../nothing'], 'There is no rule pack "../nothing"'],
    ['a threshold that is none', ['x', '--fail-on', 'never'], 'never'],
  ])('refuses %s with 2', (_, args, message) => {
    const { code, stderr, stdout } = lint(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('says where a pack is wrong', () => {
    writeFileSync(join(place, 'bad.yaml'), readFileSync(EXAMPLE, 'utf8').replace('kind:', 'knd:'));
    const { code, stderr } = lint([bundle, '--pack', 'bad.yaml']);
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean kind?');
    expect(stderr).toMatch(/at bad\.yaml:5:/);
    expect(stderr).toContain('E_PACK_INVALID');
  });

  it('finds packs by file, by directory and by name, each once', () => {
    const packs = join(place, 'config/assay/packs');
    mkdirSync(join(packs, 'mine'), { recursive: true });
    const text = readFileSync(EXAMPLE, 'utf8');
    writeFileSync(join(packs, 'mine/pack.yaml'), text);
    symlinkSync(join(packs, 'mine/pack.yaml'), join(packs, 'again.yaml'));
    for (const name of [EXAMPLE, join(packs, 'mine'), 'mine', 'mine,again', 'again'])
      expect(lintJson([bundle, '--pack', name]).packs.map(({ id }) => id)).toEqual([
        'assay',
        'kept-evidence@1.0.0',
      ]);
    writeFileSync(join(place, 'other.yaml'), `${text}\n# another\n`);
    expect(lint([bundle, '--pack', 'mine,other.yaml']).stderr).toContain('Two different packs');
  });

  it('takes a pack by name from the configuration, whatever the working directory holds', () => {
    const packs = join(place, 'config/assay/packs');
    mkdirSync(packs, { recursive: true });
    const text = readFileSync(EXAMPLE, 'utf8');
    writeFileSync(join(packs, 'gate.yaml'), text.replace('1.0.0', '2.0.0'));
    mkdirSync(join(place, 'gate'));
    writeFileSync(join(place, 'gate/pack.yaml'), text);
    const versionOf = (name: string): string | undefined =>
      lintJson([bundle, '--pack', name]).packs.at(-1)?.id;
    expect(versionOf('gate')).toBe('kept-evidence@2.0.0');
    expect(versionOf('./gate')).toBe('kept-evidence@1.0.0');
  });

  it('keeps no more of a long bundle than it needs', async () => {
    const file = join(place, 'long.tar.gz');
    writeFileSync(file, await makeSampleBundle({ fileCount: 80_000 }));
    // The events alone are more than 50 MB.
    const args = ['--max-old-space-size=32', ASSAY, 'evidence', 'lint', file, '--fail-on', 'none'];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Run \w+, 80014 events, intact$/m);
  });

  it('has nothing to say against its own bundle by its own pack', () => {
    const { packs } = lintJson([bundle, '--pack', EXAMPLE]);
    expect(packs.at(-1)).toMatchObject({ id: 'kept-evidence@1.0.0', summary: { total: 0 } });
  });
});

describe.skipIf(!hasInterop)('evidence lint with the packs of another implementation', () => {
  const verdictOf = (name: string, pack: string): string[] =>
    lintJson([join(INTEROP, name), '--pack', join(INTEROP, 'packs', `${pack}.yaml`)])
      .findings.filter((finding) => finding.pack !== 'assay')
      .map(({ rule_id: id, severity }) => `${id.replace(/^.*:/, '')} ${severity}`);

  it('says of test-bundle by cicd-starter: no findings', () => {
    expect(verdictOf('bundles/upstream/test-bundle.tar.gz', 'cicd-starter')).toEqual([]);
  });

  it('says of derived-sandbox-true by cicd-starter: CICD-002 warn, CICD-004 info', () => {
    expect(verdictOf('derived/derived-sandbox-true.bundle.tar.gz', 'cicd-starter')).toEqual([
      'CICD-002 warning',
      'CICD-004 info',
    ]);
  });

  it('ends with 0 for both, whatever our own rules find', () => {
    const pack = join(INTEROP, 'packs/cicd-starter.yaml');
    for (const name of [
      'bundles/upstream/test-bundle.tar.gz',
      'derived/derived-sandbox-true.bundle.tar.gz',
    ])
      expect(lint([join(INTEROP, name), '--pack', pack]).code).toBe(0);
  });

  it('finds that derived-sandbox-true claims what nothing supports', () => {
    const { findings } = lintJson([join(INTEROP, 'derived/derived-sandbox-true.bundle.tar.gz')]);
    expect(findings).toContainEqual(
      expect.objectContaining({ rule_id: 'ASSAY-HON-003', place: 'files' }),
    );
    expect(findings).toContainEqual(expect.objectContaining({ rule_id: 'ASSAY-INT-001' }));
  });

  it('loads all nine at once', () => {
    const names = readdirSync(join(INTEROP, 'packs')).map((name) => join(INTEROP, 'packs', name));
    const { packs } = lintJson([
      join(INTEROP, 'bundles/upstream/demo-export-bundle.tar.gz'),
      '--pack',
      names.join(','),
    ]);
    expect(names).toHaveLength(9);
    expect(Object.fromEntries(packs.map(({ id, summary }) => [id, summary.total]))).toMatchObject({
      'a2a-discovery-card-followup@1.0.0': 2,
      'a2a-signal-followup@1.0.0': 3,
      'cicd-starter@1.0.0': 1,
      'eu-ai-act-baseline@1.0.0': 1,
      'mandate-baseline@1.1.0': 4,
      'mcp-signal-followup@1.0.0': 3,
      'owasp-agentic-a3-a5-signal-followup@1.0.0': 2,
      'owasp-agentic-control-evidence-baseline@1.0.0': 3,
      'soc2-baseline@1.0.0': 1,
    });
  });

  it('refuses a bundle that is none, with the code of verify', () => {
    const { code, stderr } = lint([
      join(INTEROP, 'bundles/upstream/invalid-manifest.bundle.tar.gz'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('E_EVIDENCE_CONTRACT');
  });
});
