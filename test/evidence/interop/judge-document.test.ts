import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import { sha256Hex } from '../../../src/core/digest.ts';
import { judgeDocument } from '../../../src/evidence/interop/judge-document.ts';

const HEALTH = {
  schema: 'assay.enforcement_health.v1',
  status: 'active',
  mechanism: 'landlock',
  scope: 'tcp_connect_landlock_port',
  policy_semantics: 'allowlist',
  enforcement_class: 'strong',
  landlock: {
    abi: 4,
    handled_access_net: ['connect_tcp'],
    allowed_connect_tcp_ports: [443],
    no_new_privs_confirmed: true,
    restrict_self_confirmed: true,
  },
  probe: null,
  non_claims: ['no hostname enforcement'],
};
const FAILURE = { reason_code: 'landlock_disabled', detail: 'off' };
const PROBE = {
  kind: 'real_block',
  transport: 'ipv4',
  blocked_action: 'tcp_connect',
  blocked_port: 4444,
  blocked_errno: 'EACCES',
  listener_reached: false,
};

function judge(value: unknown, isDegradedAllowed = false): ReturnType<typeof judgeDocument> {
  return judgeDocument(`${JSON.stringify(value, null, 2)}\n`, { isDegradedAllowed });
}

describe('judgeDocument() of enforcement health', () => {
  it('passes an active restriction, and says that nothing has tried it out', () => {
    expect(judge(HEALTH)).toMatchObject({
      kind: 'enforcement-health',
      verdict: 'pass',
      signals: ['No probe has tried it out'],
      report: { ports: [443], probed: false, byte_identical: true },
    });
    expect(judge({ ...HEALTH, probe: PROBE }).signals).toEqual([]);
  });

  it('fails a restriction that failed, or was shed', () => {
    const failed = { ...HEALTH, status: 'failed', failure: FAILURE };
    expect(judge(failed)).toMatchObject({
      verdict: 'fail',
      reason: expect.stringMatching(/landlock_disabled/),
    });
    const landlock = { ...HEALTH.landlock, restriction_shedding: 'restrictions_shed' };
    expect(judge({ ...HEALTH, landlock })).toMatchObject({
      verdict: 'fail',
      reason: expect.stringMatching(/shed/),
    });
  });

  it('says when the bytes are not those of the format', () => {
    const { schema, ...rest } = HEALTH;
    expect(judge({ ...rest, schema })).toMatchObject({
      verdict: 'pass',
      report: { byte_identical: false },
    });
    const compact = judgeDocument(JSON.stringify(HEALTH), { isDegradedAllowed: false });
    expect(compact.report).toMatchObject({ byte_identical: false });
  });

  it.each<[string, object, RegExp]>([
    ['another version', { schema: 'assay.enforcement_health.v2' }, /schema is not/],
    ['an unknown status', { status: 'degraded' }, /status is not active or failed/],
    ['an unknown member', { verdict: 'good' }, /verdict is not part of the format/],
    ['a missing member', { non_claims: undefined }, /non_claims is missing/],
    ['a missing probe', { probe: undefined }, /probe is not an object/],
    ['an impossible port', { probe: { ...PROBE, blocked_port: 65_536 } }, /probe.blocked_port/],
    ['a failure that was active', { failure: FAILURE }, /active, yet there is a failure/],
    ['a failure without reason', { status: 'failed' }, /failure is missing/],
    [
      'a restriction that was never confirmed',
      { landlock: { ...HEALTH.landlock, restrict_self_confirmed: false } },
      /restrict_self_confirmed is false/,
    ],
    [
      'privileges that were never given up',
      { landlock: { ...HEALTH.landlock, no_new_privs_confirmed: false } },
      /no_new_privs_confirmed is false/,
    ],
    [
      'a restriction of nothing',
      { landlock: { ...HEALTH.landlock, handled_access_net: [] } },
      /no connect_tcp/,
    ],
    ['a probe that got through', { probe: { ...PROBE, listener_reached: true } }, /got through/],
  ])('does not accept %s', (_, change, reason) => {
    expect(judge({ ...HEALTH, ...change })).toMatchObject({
      kind: 'enforcement-health',
      verdict: 'malformed',
      reason: expect.stringMatching(reason),
    });
  });
});

const FS = { type: 'assay.sandbox.fs', subject: '/a', payload: { op: 'write', path: '/a' } };
const EXEC = { type: 'assay.sandbox.exec', data: { argv0: 'sh', hits: 1 } };
const DEGRADED = { type: 'assay.sandbox.degraded', data: { reason: 'no Landlock' } };

describe('judgeDocument() of sandbox events', () => {
  it('reports what was done, from payload or data', () => {
    expect(judge([FS, { ...FS, subject: '/b' }, EXEC])).toMatchObject({
      kind: 'sandbox-events',
      verdict: 'pass',
      report: {
        fs_ops: 2,
        fs_by_op: { write: 2 },
        execs: 1,
        degradations: 0,
        subjects: { fs: ['/a', '/b'], exec: ['sh'] },
      },
    });
    expect(judge({ events: [FS] })).toMatchObject({ verdict: 'pass' });
  });

  it('fails a degraded run, unless that is allowed', () => {
    expect(judge([FS, DEGRADED])).toMatchObject({
      verdict: 'fail',
      reason: expect.stringMatching(/no Landlock/),
    });
    expect(judge([FS, DEGRADED], true)).toMatchObject({
      verdict: 'pass',
      reason: expect.stringMatching(/degraded/),
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['an empty list', [], /no event at all/],
    ['no event of a sandbox', [{ type: 'assay.tool.decision', data: {} }], /no event of a sandbox/],
    ['events that are no list', { events: {} }, /events is not a list/],
    ['an event that is none', [FS, 1], /events\[1\] is not an object/],
    ['an event without type', [{ data: {} }], /events\[0\]\.type/],
    ['an event whose data is a list', [{ ...EXEC, data: [] }], /events\[0\] has no object/],
    ['a subject that is none', [{ ...EXEC, subject: 1 }], /events\[0\]\.subject/],
    [
      'a degradation that was cut out',
      [{ type: 'assay.sandbox.summary', data: { degradation_count: 1 } }, FS],
      /counts 1 degradations, and 0 are there/,
    ],
    ['something else', { hello: 1 }, /none of these/],
    ['a number', 7, /none of these/],
  ])('does not pass %s', (_, value, reason) => {
    expect(judge(value)).toMatchObject({
      verdict: 'malformed',
      reason: expect.stringMatching(reason),
    });
  });

  it('says when the run id of the older format is not that of the events', () => {
    const data = { command: ['true'], counters: {}, notes: [] };
    const summary = { type: 'assay.sandbox.summary', data, assayrunid: 'sandbox_e4c7c85e481a2d1f' };
    const exec = { ...EXEC, data: { argv0: '/usr/bin/true', hits: 1 } };
    expect(judge([summary, exec]).signals).toEqual([]);
    expect(judge([summary, exec, exec, FS]).signals).toEqual([
      expect.stringContaining('of these events it would be sandbox_'),
    ]);
  });

  it.each(['[', '[{"type":"a","type":"b"}]', '["\\ud800"]', '[1e400]', '[]x', '\ufeff[]'])(
    'does not take JSON for granted: %j',
    (text) => {
      expect(judgeDocument(text, { isDegradedAllowed: true })).toMatchObject({
        kind: 'unknown',
        verdict: 'malformed',
        reason: expect.stringMatching(/not JSON that all read alike/),
      });
    },
  );
});

const PACK = {
  specversion: '1.0',
  type: 'assay.coding_agent.evidence_pack.v0',
  datacontenttype: 'application/json',
  assaycontenthash: `sha256:${'0'.repeat(64)}`,
  data: {
    declared_scope: {
      allowed_files: ['a'],
      allowed_commands: ['git'],
      network: 'denied',
      allowed_mcp_tools: [],
      authorized: true,
    },
    observed_effects: {
      files_changed: ['a'],
      commands_executed: ['/usr/bin/git'],
      network_attempts: [],
      mcp_tool_calls: [],
      test_observed: false,
    },
    coverage: {
      files: 'observed',
      commands: 'observed',
      network: 'observed',
      mcp_tools: 'observed',
      test: 'absent',
    },
    source_class: 'boundary_observed',
    non_claims: [],
  },
};

function packWith(
  part: 'declared_scope' | 'observed_effects' | 'coverage',
  change: object,
): object {
  return { ...PACK, data: { ...PACK.data, [part]: { ...PACK.data[part], ...change } } };
}

describe('judgeDocument() of a coding agent', () => {
  it('lists gaps, and takes a command for the program that it is', () => {
    expect(judge(PACK)).toMatchObject({
      kind: 'coding-agent',
      verdict: 'pass',
      signals: ['Coverage of test is absent', 'assaycontenthash is not that of the content'],
      report: { out_of_scope_commands: [], content_hash_matches: false },
    });
  });

  it('knows the hash of the content', () => {
    const { specversion, type, datacontenttype, data } = PACK;
    const content = canonicalJson({ specversion, type, datacontenttype, data });
    const assaycontenthash = `sha256:${sha256Hex(content)}`;
    expect(judge({ ...PACK, assaycontenthash }).report).toMatchObject({
      content_hash_matches: true,
    });
    expect(judge({ ...PACK, assaycontenthash: 'sha256:12' })).toMatchObject({
      verdict: 'malformed',
    });
  });

  it('shows what was out of scope', () => {
    const seen = packWith('observed_effects', {
      files_changed: ['a', 'b'],
      commands_executed: ['curl'],
      mcp_tool_calls: ['fs.write'],
      network_attempts: ['h:443'],
    });
    expect(judge(seen)).toMatchObject({
      verdict: 'pass',
      report: {
        out_of_scope_files: ['b'],
        out_of_scope_commands: ['curl'],
        out_of_scope_tools: ['fs.write'],
        network_despite_denied: ['h:443'],
      },
    });
  });

  it.each<[string, object, RegExp]>([
    ['another type', { ...PACK, type: 'assay.tool.decision' }, /type is not/],
    ['a surface without coverage', packWith('coverage', { test: undefined }), /coverage.test/],
    ['an unknown coverage', packWith('coverage', { test: 'yes' }), /coverage.test is not/],
    ['an unknown rule', packWith('declared_scope', { network: 'maybe' }), /network is not/],
    ['files that are no list', packWith('observed_effects', { files_changed: 'a' }), /a list of/],
    ['no data', { ...PACK, data: undefined }, /data is not an object/],
  ])('does not accept %s', (_, value, reason) => {
    expect(judge(value)).toMatchObject({
      kind: 'coding-agent',
      verdict: 'malformed',
      reason: expect.stringMatching(reason),
    });
  });
});
