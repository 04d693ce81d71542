import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { scanBundle } from '../src/cli/bundle-file.ts';
import { run as check } from '../src/cli/commands/evidence-check.ts';
import { run as diff } from '../src/cli/commands/evidence-diff.ts';
import { run as exportEvidence } from '../src/cli/commands/evidence-export.ts';
import { run as lint } from '../src/cli/commands/evidence-lint.ts';
import { run as show } from '../src/cli/commands/evidence-show.ts';
import { run as verify } from '../src/cli/commands/evidence-verify.ts';
import { canonicalJson } from '../src/core/canonical-json.ts';
import { sha256Hex } from '../src/core/digest.ts';
import type { BundleEvent, BundleManifest } from '../src/evidence/bundle/bundle.ts';
import { startManifest, writeBundle } from '../src/evidence/bundle/write-bundle.ts';
import { traceparentOf } from '../src/evidence/export/trace-ids.ts';
import { writeUpstreamPolicy } from '../src/evidence/export/upstream-policy.ts';
import {
  readEnforcementHealth,
  writeEnforcementHealth,
} from '../src/evidence/interop/enforcement-health.ts';
import { digestSemantically } from '../src/evidence/interop/semantic-digest.ts';
import { computeUpstreamRunId, type UpstreamRun } from '../src/evidence/interop/upstream-run-id.ts';
import { readPack } from '../src/evidence/lint/read-pack.ts';
import { capture } from './cli/capture.ts';
import { collect, makeSampleBundle, MemorySpool } from './evidence/bundle/sample-run.ts';

/*
 * Data of another implementation, where it lies beside the checkout, with the verdict that its list states of each
 * file. A file that nothing is said of here fails.
 */
const INTEROP = process.env['ASSAY_INTEROP'] ?? join(import.meta.dirname, '../../shared/interop');
const FILES = existsSync(INTEROP)
  ? readdirSync(INTEROP, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(INTEROP.length + 1))
      .sort()
  : [];

const place = mkdtempSync(join(tmpdir(), 'assay-interop-'));
afterAll(() => rmSync(place, { recursive: true }));

const INTACT_SIGNER_UNKNOWN = 10;

function pathOf(name: string): string {
  return join(INTEROP, name);
}

function read(name: string): string {
  return readFileSync(pathOf(name), 'utf8');
}

function readJson<T>(name: string): T {
  return JSON.parse(read(name)) as T;
}

async function readBundle(
  path: string,
): Promise<{ kind: string; manifest: BundleManifest; events: BundleEvent[] }> {
  const events: BundleEvent[] = [];
  const { kind, manifest } = await scanBundle(path, { onEvent: (event) => events.push(event) });
  return { kind, manifest, events };
}

async function expectIntact(name: string, count: number): Promise<void> {
  const { code, stdout } = await capture(verify, { json: 'true' }, [pathOf(name)]);
  expect(code).toBe(INTACT_SIGNER_UNKNOWN);
  expect(JSON.parse(stdout)).toBeTypeOf('object');
  const { kind, events } = await readBundle(pathOf(name));
  expect(kind).toBe('upstream');
  expect(events.length).toBe(count);
}

interface LintOutput {
  readonly findings: readonly { readonly rule_id: string; readonly severity: string }[];
}

/** Findings of a pack of the other implementation, without those of our own rules. */
async function lintWith(pack: string, bundle: string): Promise<string[]> {
  const flags = { pack: pathOf(pack), format: 'json', 'fail-on': 'none' };
  const { code, stdout } = await capture(lint, flags, [bundle]);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as LintOutput).findings
    .filter(({ rule_id }) => rule_id.includes('@'))
    .map(({ rule_id, severity }) => `${rule_id.replace(/^.*:/, '')} ${severity.toLowerCase()}`)
    .sort();
}

async function expectShown(name: string): Promise<void> {
  const bundle = name.replace('show-golden/', 'bundles/upstream/').replace('.show.json', '.tar.gz');
  const { code, stdout } = await capture(show, { format: 'json' }, [pathOf(bundle)]);
  expect(code).toBe(0);
  const { manifest, events } = JSON.parse(stdout) as Record<string, unknown>;
  expect({ manifest, events }).toEqual(readJson(name));
}

async function expectHealth(name: string, code: number): Promise<void> {
  const text = read(name);
  expect(writeEnforcementHealth(readEnforcementHealth(JSON.parse(text)))).toBe(text);
  expect((await capture(check, {}, [pathOf(name)])).code).toBe(code);
}

async function expectCheck(
  name: string,
  { code, report = {}, flags = {} }: { code: number; report?: object; flags?: object },
): Promise<void> {
  const checked = await capture(check, { json: 'true', ...flags }, [pathOf(name)]);
  expect(checked.code).toBe(code);
  expect(JSON.parse(checked.stdout)).toMatchObject({ report });
}

const PACK_RULES = 29;

function expectPack(name: string, rules: number): void {
  const pack = readPack(read(name), name);
  expect(name).toBe(`packs/${pack.name}.yaml`);
  expect(pack.rules.length).toBe(rules);
}

const VERDICTS: Readonly<Record<string, (name: string) => void | Promise<void>>> = {
  'README.md': (name) => {
    expect(read(name)).toContain('Expected verdict');
  },
  'UPSTREAM-LICENSE': (name) => {
    expect(read(name)).toMatch(/^MIT License/);
  },

  'canonical/rfc8785.json': (name) => {
    const vectors = readJson<Record<string, { input?: string; expected?: string }>>(name);
    const cases = Object.values(vectors).filter(({ input }) => input !== undefined);
    expect(cases.length).toBe(31);
    for (const { input = '', expected } of cases)
      expect(canonicalJson(JSON.parse(input))).toBe(expected);
  },
  'canonical/semantic-digest-goldens.json': (name) => {
    interface Golden {
      readonly record: unknown;
      readonly reordered: unknown;
      readonly set_paths: string[][];
      readonly new_digest: string;
      readonly reordered_new_digest: string;
    }
    const goldens = readJson<Golden[]>(name);
    expect(goldens.length).toBe(4);
    for (const { record, reordered, set_paths, ...digests } of goldens) {
      expect(digestSemantically(record, set_paths)).toBe(digests.new_digest);
      expect(digestSemantically(reordered, set_paths)).toBe(digests.reordered_new_digest);
    }
  },

  'bundles/upstream/test-bundle.tar.gz': async (name) => {
    await expectIntact(name, 5);
    expect(await lintWith('packs/cicd-starter.yaml', pathOf(name))).toEqual([]);
  },
  'bundles/upstream/demo-export-bundle.tar.gz': async (name) => {
    await expectIntact(name, 2);
    const { events } = await readBundle(pathOf(name));
    for (const { traceparent, assayrunid, id } of events)
      expect(traceparent).toBe(traceparentOf(assayrunid, id));
  },
  'bundles/upstream/receipt-cyclonedx.tar.gz': (name) => expectIntact(name, 1),
  'bundles/upstream/receipt-openfeature.tar.gz': (name) => expectIntact(name, 1),
  'bundles/upstream/receipt-promptfoo.tar.gz': (name) => expectIntact(name, 1),
  'bundles/upstream/invalid-manifest.bundle.tar.gz': async (name) => {
    const failure = { code: 'ContractInvalidJson', reason: 'E_EVIDENCE_CONTRACT', exitCode: 2 };
    await expect(scanBundle(pathOf(name))).rejects.toMatchObject(failure);
  },

  'show-golden/receipt-cyclonedx.show.json': expectShown,
  'show-golden/receipt-openfeature.show.json': expectShown,
  'show-golden/receipt-promptfoo.show.json': expectShown,

  'profile/profile_basic.yaml': (name) => {
    const text = writeUpstreamPolicy(
      {
        paths: ['/repo/data/input.txt'],
        programs: ['/usr/bin/cat'],
        environment: ['FOO_FEATURE'],
        // A fallback counts, and leaves a note.
        counters: { 'sandbox.env_strict_used': 1, 'sandbox.audit_fallback': 1 },
        notes: ['audit_fallback: landlock policy conflict'],
      },
      { cwd: '/repo', home: '/home/u', tmp: '/tmp/assay-1000-999' },
    );
    expect(text).toBe(read(name));
  },
  'profile/evidence_demo_profile.yaml': async (name) => {
    const output = join(place, 'demo.tar.gz');
    const flags = { profile: pathOf(name), detail: 'observed', output };
    expect((await capture(exportEvidence, flags)).code).toBe(0);
    const { kind, manifest, events } = await readBundle(output);
    expect(kind).toBe('upstream');
    expect(manifest.run_id).toBe('demo_run_999');
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['assay.profile.started', 'urn:assay:phase:profile'],
      ['assay.fs.access', '~/**/secret.txt'],
      ['assay.net.connect', 'api.stripe.com'],
      ['assay.profile.finished', 'urn:assay:phase:profile'],
    ]);
  },

  'enforcement-health-v1/active_no_probe.json': (name) => expectHealth(name, 0),
  'enforcement-health-v1/active_with_probe.json': (name) => expectHealth(name, 0),
  'enforcement-health-v1/active_probe_shedding_unmeasured.json': (name) => expectHealth(name, 0),
  'enforcement-health-v1/failed.json': (name) => expectHealth(name, 6),

  'packs/a2a-discovery-card-followup.yaml': (name) => expectPack(name, 2),
  'packs/a2a-signal-followup.yaml': (name) => expectPack(name, 3),
  'packs/cicd-starter.yaml': async (name) => {
    expectPack(name, 4);
    const bundle = pathOf('bundles/upstream/test-bundle.tar.gz');
    expect(await lintWith(name, bundle)).toEqual([]);
    // A run of ours in the older format starts and ends as it must; which build it was is not known.
    const own = join(place, 'own.tar.gz');
    writeFileSync(own, await makeSampleBundle());
    const output = join(place, 'older.tar.gz');
    await capture(exportEvidence, { format: 'upstream', output }, [own]);
    expect(await lintWith(name, output)).toEqual(['CICD-004 info']);
  },
  'packs/eu-ai-act-baseline.yaml': (name) => expectPack(name, 4),
  'packs/mandate-baseline.yaml': (name) => expectPack(name, 5),
  'packs/mcp-signal-followup.yaml': (name) => expectPack(name, 3),
  'packs/owasp-agentic-a3-a5-signal-followup.yaml': (name) => expectPack(name, 2),
  'packs/owasp-agentic-control-evidence-baseline.yaml': (name) => expectPack(name, 3),
  'packs/soc2-baseline.yaml': (name) => expectPack(name, 3),

  'harness/sandbox/events.json': (name) =>
    expectCheck(name, {
      code: 0,
      report: { fs_ops: 1, fs_by_op: { write: 1 }, execs: 1, degradations: 0 },
    }),
  'harness/sandbox/events-degraded.json': async (name) => {
    await expectCheck(name, { code: 6, report: { degradations: 1 } });
    await expectCheck(name, { code: 0, flags: { 'allow-degraded': 'true' } });
  },
  'harness/coding-agent/valid.event.json': (name) =>
    expectCheck(name, {
      code: 0,
      report: { out_of_scope_files: [], out_of_scope_commands: [], network_despite_denied: [] },
    }),
  'harness/coding-agent/out-of-scope.event.json': (name) =>
    expectCheck(name, {
      code: 0,
      report: {
        out_of_scope_files: ['secrets.env'],
        out_of_scope_commands: ['curl'],
        out_of_scope_tools: ['fs.write'],
        network_despite_denied: ['api.example.com:443'],
      },
    }),
  'harness/coding-agent/wrong-type.event.json': (name) => expectCheck(name, { code: 3 }),

  'derived/determinism-golden.json': async (name) => {
    const golden = readJson<{
      event: BundleEvent;
      sha256_manifest_json: string;
      sha256_events_ndjson: string;
    }>(name);
    const { event } = golden;
    const spool = new MemorySpool();
    const { manifest, archive } = writeBundle({
      manifest: startManifest({
        producer: {
          name: event.assayproducer,
          version: event.assayproducerversion,
          git: event.assaygit,
        },
        runId: event.assayrunid,
      }),
      envelope: { source: event.source, assaygit: event.assaygit },
      events: [event],
      spool,
    });
    await collect(archive);
    expect(sha256Hex(canonicalJson(manifest))).toBe(golden.sha256_manifest_json);
    expect(sha256Hex(Buffer.concat([...spool.read()]))).toBe(golden.sha256_events_ndjson);
  },
  'derived/sandbox-runid-vectors.json': (name) => {
    const vectors =
      readJson<(UpstreamRun & { run_id: string; deg?: UpstreamRun['degradations'] })[]>(name);
    expect(vectors.length).toBe(5);
    for (const { run_id, deg = [], ...run } of vectors)
      expect(computeUpstreamRunId({ ...run, degradations: deg })).toBe(run_id);
  },
  'derived/derived-sandbox-true.bundle.tar.gz': async (name) => {
    await expectIntact(name, 3);
    expect(await lintWith('packs/cicd-starter.yaml', pathOf(name))).toEqual([
      'CICD-002 warning',
      'CICD-004 info',
    ]);
    const { code, stdout } = await capture(diff, {}, [pathOf(name), pathOf(name)]);
    expect(code).toBe(0);
    expect(stdout).toContain('No differences');
    // As a list of events, its run id is that of what it holds.
    const shown = await capture(show, { format: 'json' }, [pathOf(name)]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      manifest: { run_id: 'sandbox_e4c7c85e481a2d1f' },
    });
  },
  'derived/derived-sandbox-true.manifest.json': async (name) => {
    const { manifest } = await readBundle(pathOf('derived/derived-sandbox-true.bundle.tar.gz'));
    expect(canonicalJson(manifest)).toBe(read(name));
  },
  'derived/derived-sandbox-true.events.ndjson': async (name) => {
    const { events } = await readBundle(pathOf('derived/derived-sandbox-true.bundle.tar.gz'));
    expect(events.map((event) => `${canonicalJson(event)}\n`).join('')).toBe(read(name));
  },
};

describe('data of another implementation', () => {
  it('has a verdict for every file, and a file for every verdict', (context) => {
    if (FILES.length === 0) context.skip('not run: the data is not here');
    expect(Object.keys(VERDICTS).sort()).toEqual(FILES);
  });

  it('has nine packs with all their rules', (context) => {
    if (FILES.length === 0) context.skip('not run: the data is not here');
    const packs = FILES.filter((name) => name.startsWith('packs/'));
    expect(packs.length).toBe(9);
    const counts = packs.map((name) => readPack(read(name), name).rules.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(PACK_RULES);
  });

  it.each(FILES)('%s gives the stated verdict', async (name) => {
    const verdict = VERDICTS[name];
    expect(verdict).toBeDefined();
    await verdict?.(name);
  });
});
