import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventTable } from '../../src/cli/show/table.ts';
import { toFact } from '../../src/evidence/bundle/facts.ts';
import type { BundleEvent, BundleManifest } from '../../src/evidence/bundle/bundle.ts';
import { change, degraded, file, network, program } from '../evidence/diff/make-sides.ts';
import { makeBundle } from '../evidence/diff/make-bundle.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');
const INTEROP =
  process.env['ASSAY_INTEROP'] ?? join(import.meta.dirname, '../../../shared/interop');
const place = mkdtempSync(join(tmpdir(), 'assay-show-test-'));
const bundle = join(place, 'run.tar.gz');
const DENIED = { outcome: 'EACCES', refused_by: 'fs.deny: ${HOME}/.ssh' };

interface Shown {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function show(...args: readonly string[]): Shown {
  const { status, stdout, stderr } = spawnSync(ASSAY, ['evidence', 'show', ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return { status, stdout, stderr };
}

/** The rows, split at two spaces and more. */
function rowsOf({ stdout }: Shown): string[][] {
  const lines = stdout.trimEnd().split('\n');
  const head = lines.findIndex((line) => line.includes('SEQ'));
  return lines.slice(head + 1).map((line) => line.trim().split(/ {2,}/));
}

/** The same archive with another text in its events, and nothing else put right. */
function alter(bytes: Buffer, from: string, to: string): Buffer {
  const tar = gunzipSync(bytes);
  const at = tar.indexOf(from);
  expect(at).toBeGreaterThan(0);
  tar.write(to, at);
  const gzip = gzipSync(tar, { level: 9 });
  bytes.subarray(0, 10).copy(gzip);
  return gzip;
}

beforeAll(async () => {
  const bytes = await makeBundle({
    facts: [
      file('read', '${CWD}/src/a.c'),
      file('write', '${CWD}/out/a.o', { program: '/usr/bin/cc' }),
      file('read', '${CWD}/missing', { outcome: 'ENOENT' }),
      file('read', '${HOME}/.ssh/id', DENIED),
      file('rename', '${TMPDIR}/x', { target: '${CWD}/out/b.o' }),
      file('read', '${CWD}/\u001b[2J\u202e'),
      network('connect', 'tcp:192.0.2.1:443', { outcome: 'EACCES', refused_by: '' }),
      program('/usr/bin/cc', { program: '/usr/bin/make' }),
      degraded('fs.deny: /a', 'no layer can'),
      change('created', '${CWD}/out/'),
    ],
  });
  writeFileSync(bundle, bytes);
});
afterAll(() => rmSync(place, { recursive: true }));

describe('evidence show', () => {
  it('says what the bundle is, and lists every event', () => {
    const shown = show(bundle);
    expect(shown.status).toBe(0);
    expect(shown.stdout).toMatch(
      /^Bundle {4}sha256:[0-9a-f]{64}\nRun {7}sandbox_[0-9a-f]{16}\nProducer {2}assay 0\.1\.0\nEvents {4}19\nVerified {2}intact/,
    );
    const rows = rowsOf(shown);
    expect(rows.map(([seq]) => Number(seq))).toEqual(Array.from({ length: 19 }, (_, at) => at));
    expect(rows.map((cells) => cells.slice(2))).toContainEqual([
      'file',
      'read',
      'ok',
      '${CWD}/src/a.c',
      '/usr/bin/sh',
    ]);
    expect(shown.stdout).toContain('refused   ${HOME}/.ssh/id (fs.deny: ${HOME}/.ssh)');
    expect(shown.stdout).toContain('${TMPDIR}/x → ${CWD}/out/b.o');
  });

  it('prints no control character of a name', () => {
    const { stdout } = show(bundle);
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toContain('\\u001b[2J\\u202e');
    expect(show(bundle, '--json').stdout).not.toMatch(/[\u007f-\u009f\u202e]/);
  });

  it.each([
    [
      ['--kind', 'program'],
      ['/usr/bin/cc', '/usr/bin/make'],
    ],
    [
      ['--kind', 'refusal'],
      ['tcp:192.0.2.1:443', '${HOME}/.ssh/id'],
    ],
    [
      ['--kind', 'degradation,change'],
      ['fs.deny: /a', '${CWD}/out/'],
    ],
    [['--kind', 'assay.sandbox.net'], ['tcp:192.0.2.1:443']],
    [
      ['--path', '${CWD}/out/**'],
      ['${TMPDIR}/x', '${CWD}/out/a.o', '${CWD}/out/'],
    ],
    [['--path', '${CWD}/*.c', '--path', '${CWD}/src/*.c'], ['${CWD}/src/a.c']],
    [['--path', 'tcp:192.0.2.1:*'], ['tcp:192.0.2.1:443']],
    [['--outcome', 'ENOENT'], ['${CWD}/missing']],
    [
      ['--outcome', 'refused'],
      ['tcp:192.0.2.1:443', '${HOME}/.ssh/id'],
    ],
    [
      ['--outcome', 'failed', '--kind', 'file'],
      ['${CWD}/missing', '${HOME}/.ssh/id'],
    ],
    [
      ['--outcome', 'ok', '--path', '${CWD}/out'],
      ['${TMPDIR}/x', '${CWD}/out/a.o'],
    ],
    [['--path', '/nowhere'], []],
  ])('chooses with %j', (args, subjects) => {
    const shown = show(bundle, ...args);
    expect(shown.status).toBe(0);
    const events = (JSON.parse(show(bundle, '--json', ...args).stdout) as { events: BundleEvent[] })
      .events;
    expect(rowsOf(shown)).toHaveLength(subjects.length);
    const found = shown.stdout.split('\n').slice(7, -1);
    for (const [at, subject] of subjects.entries()) expect(found[at]).toContain(subject);
    expect(events).toHaveLength(subjects.length);
  });

  it.each([
    ['--kind', 'files', 'did you mean file?'],
    ['--outcome', 'bad', '--outcome does not know "bad"'],
  ])('refuses %s %s', (flag, value, message) => {
    const { status, stderr } = show(bundle, flag, value);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  it('prints JSON in the order of the format, both ways of asking for it alike', () => {
    const { stdout } = show(bundle, '--json');
    expect(show(bundle, '--format', 'json').stdout).toBe(stdout);
    const found = JSON.parse(stdout) as { manifest: object; events: object[]; verify_mode: string };
    expect(Object.keys(found)).toEqual(['manifest', 'events', 'verify_mode']);
    expect(Object.keys(found.manifest).slice(0, 3)).toEqual([
      'schema_version',
      'bundle_id',
      'producer',
    ]);
    expect(found.verify_mode).toBe('enabled');
    expect(found.events).toHaveLength(19);
    const text = gunzipSync(readFileSync(bundle)).toString();
    const lines = text
      .slice(text.indexOf('{"assaycontenthash"'))
      .replace(/\n\0+$/, '')
      .split('\n');
    expect(found.events).toEqual(lines.map((line) => JSON.parse(line) as object));
  });

  it('shows nothing of a bundle that was altered, unless it is asked to', () => {
    const altered = join(place, 'altered.tar.gz');
    writeFileSync(altered, alter(readFileSync(bundle), '/src/a.c', '/src/b.c'));
    for (const args of [[], ['--json']]) {
      const { status, stdout, stderr } = show(altered, ...args);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain('E_EVIDENCE_INTEGRITY');
    }
    const unverified = show(altered, '--no-verify');
    expect(unverified.status).toBe(0);
    expect(unverified.stdout).toContain('Verified  no: nothing was checked');
    expect(unverified.stdout).toContain('${CWD}/src/b.c');
    expect(JSON.parse(show(altered, '--no-verify', '--json').stdout)).toMatchObject({
      verify_mode: 'disabled',
    });
  });

  it('shows what can be read of one that is not whole, and says so', () => {
    const cut = join(place, 'cut.tar.gz');
    const bytes = readFileSync(bundle);
    writeFileSync(cut, bytes.subarray(0, bytes.length - 8));
    expect(show(cut)).toMatchObject({ status: 7, stdout: '' });
    const shown = show(cut, '--no-verify');
    expect(shown.status).toBe(7);
    expect(shown.stdout).toContain('${CWD}/src/a.c');
    expect(shown.stdout).toMatch(/… .*\(IntegrityGzipTruncated\)\n$/);
    const { stdout } = show(cut, '--no-verify', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      problem: expect.stringContaining('Truncated') as string,
    });
  });

  it.each([
    ['null', 'null'],
    ['a number', '1'],
    ['no type', '{}'],
    [
      'odd data',
      '{"type":"assay.sandbox.coverage","data":{"surfaces":[1]},"time":5,"assayseq":"x"}',
    ],
    ['odd layers', '{"type":"assay.sandbox.layers","data":{"layers":[null]}}'],
    ['an odd change', '{"type":"assay.sandbox.change","data":{"path":1}}'],
  ])('does not stumble over %s when nothing is checked', (_, line) => {
    const odd = join(place, 'odd.tar.gz');
    const tar = gunzipSync(readFileSync(bundle));
    const at = tar.indexOf('{"assaycontenthash"');
    tar.write(`${line}\n{"`, at);
    writeFileSync(odd, gzipSync(tar));
    for (const args of [[], ['--json'], ['--kind', 'change'], ['--path', '/x']])
      expect(show(odd, '--no-verify', ...args)).toMatchObject({ status: 0, stderr: '' });
  });

  it('takes a bundle from standard input, and leaves nothing behind', () => {
    const own = mkdtempSync(join(place, 'tmp-'));
    const stdout = execFileSync(ASSAY, ['evidence', 'show', '-'], {
      input: readFileSync(bundle),
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: own },
    });
    expect(stdout).toBe(show(bundle).stdout);
    expect(readdirSync(own)).toEqual([]);
  });

  it('loses nothing to a reader that takes its time', async () => {
    const many = join(place, 'slow.tar.gz');
    const facts = Array.from({ length: 2000 }, (_, at) => file('read', `\${CWD}/f${at}`));
    writeFileSync(many, await makeBundle({ facts }));
    const script = '"$0" evidence show "$1" --json | (sleep 0.5; cat)';
    const { stdout } = spawnSync('bash', ['-c', script, ASSAY, many], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    expect((JSON.parse(stdout) as { events: unknown[] }).events).toHaveLength(2009);
  });

  it('ends quietly when its reader has seen enough', async () => {
    const many = join(place, 'many.tar.gz');
    const facts = Array.from({ length: 5000 }, (_, at) => file('read', `\${CWD}/f${at}`));
    writeFileSync(many, await makeBundle({ facts }));
    for (const args of [[], ['--json']]) {
      const child = spawn('bash', [
        '-o',
        'pipefail',
        '-c',
        '"$0" evidence show "$@" | head -n 3',
        ASSAY,
        many,
        ...args,
      ]);
      let stderr = '';
      child.stderr.on('data', (text) => (stderr += String(text)));
      child.stdout.resume();
      const status = await new Promise((resolve) => child.on('close', resolve));
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
  });

  describe('on receipts of another implementation', () => {
    beforeEach((context) => {
      if (!existsSync(INTEROP)) context.skip('not run: the receipts are not here');
    });

    it.each(['cyclonedx', 'openfeature', 'promptfoo'])(
      'prints what its own makers print: %s',
      (name) => {
        const golden = readFileSync(join(INTEROP, `show-golden/receipt-${name}.show.json`), 'utf8');
        const { stdout } = show(join(INTEROP, `bundles/upstream/receipt-${name}.tar.gz`), '--json');
        expect(stdout.replace(',\n  "verify_mode": "enabled"', '').trimEnd()).toBe(
          golden.trimEnd(),
        );
      },
    );
  });
});

describe('the table', () => {
  const event = {
    type: 'assay.sandbox.fs',
    time: '2026-01-01T00:00:00.000Z',
    assayseq: 7,
    data: {
      op: 'read',
      path: `/${'long/'.repeat(40)}end`,
      outcome: 'ok',
      program: `/usr/${'bin/'.repeat(30)}cc`,
    },
  } as unknown as BundleEvent;
  const manifest = {
    bundle_id: '',
    run_id: '',
    producer: { name: '', version: '' },
    event_count: 9,
  } as unknown as BundleManifest;

  it.each([80, 100, 120, 200])(
    'keeps within %d columns, and shows the ends of names',
    (columns) => {
      const table = new EventTable({ manifest, trust: '', columns });
      const row = table.row(toFact(event), event).trimEnd();
      expect(row.length).toBeLessThanOrEqual(Math.max(columns, 96));
      expect(row).toContain('/end');
      expect(row).toMatch(/cc$/);
    },
  );

  it('cuts nothing where there is no terminal', () => {
    const row = new EventTable({ manifest, trust: '', columns: undefined }).row(
      toFact(event),
      event,
    );
    expect(row).toContain('/long/long/long');
    expect(row.length).toBeGreaterThan(300);
  });
});
