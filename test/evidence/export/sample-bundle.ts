import type { BundleEvent, BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import type { EventSource } from '../../../src/evidence/export/event-source.ts';

/*
 * Events as a bundle holds them, without their hashes, which no export looks at. Names are the worst that a program
 * can think of.
 */

export const RUN_ID = 'sandbox_0123456789abcdef';
export const HOSTILE = [
  '=cmd|"/C calc"!A0',
  '+1',
  '-1',
  '@SUM(1)',
  '\t=1',
  '\r=1',
  ' =1',
  '\uff1d1',
  'a,b',
  'a"b',
  'a\nb',
  'a\r\nb',
  '\u001b[31m',
  '\u009b31m\u007f',
  '\u202egnp',
  '</script><script>alert(1)</script>',
  "it's",
  '',
];

type Draft = readonly [type: string, data: object, subject?: string];

const LINE = { outcome: 'ok', program: '/usr/bin/sh' };

const DRAFTS: readonly Draft[] = [
  [
    'assay.profile.started',
    { profile_name: 'p', command: ['sh', '-c', 'true'], identity: 'sha256:0' },
    'urn:assay:phase:profile',
  ],
  ['assay.sandbox.policy', { name: 'p.yaml', default: false, digest: 'sha256:1', policy: {} }],
  ['assay.sandbox.environment', { passed: ['PATH', 'FOO'], removed: ['TOKEN'] }],
  ['assay.sandbox.layers', { layers: [{ layer: 'landlock', status: 'enforced', reason: '' }] }],
  [
    'assay.sandbox.degraded',
    {
      reason_code: 'policy_conflict',
      degradation_mode: 'partial_enforcement',
      component: 'fs.deny: /x',
      detail: 'no layer can',
    },
  ],
  line('bind', 'tcp:127.0.0.1:${PORT}', 'net'),
  line('chmod', '${CWD}/a', 'fs', { target: '0755' }),
  line('connect', 'tcp:192.0.2.1:443', 'net', { outcome: 'EACCES', refused_by: '' }),
  line('connect', 'udp:[2001:db8::1]:53', 'net', { outcome: 'ENETUNREACH' }),
  line('connect', 'unix:${TMPDIR}/s', 'net'),
  line('create', '${CWD}/new', 'fs', { program: '/usr/bin/node' }),
  line('exec', '/usr/bin/sudo', 'fs', { outcome: 'EACCES', refused_by: 'p.yaml:3 fs.deny: sudo' }),
  line('exec', '/usr/bin/node', 'fs'),
  line('limit', 'memory', 'limit', { outcome: 'ok', program: 'assay' }),
  line('mkdir', '${CWD}/d', 'fs'),
  line('overflow write', '${CWD}/many', 'folded', { digest: '00' }),
  ...HOSTILE.map((name) => line('read', `${name}`, 'fs')),
  line('rename', '${CWD}/a', 'fs', { target: '${CWD}/b' }),
  line('run', '/usr/bin/sh', 'exec', { program: 'assay', argv0: '/usr/bin/sh' }),
  line('run', '/usr/bin/node', 'exec', {
    argv0: '/usr/bin/node',
    target: '${CWD}/s.js',
    digest: 'ab',
  }),
  // Starts itself, and is started by what it has started.
  line('run', '/usr/bin/sh', 'exec', { program: '/usr/bin/node', argv0: '/usr/bin/sh' }),
  line('unlink', '${HOME}/x', 'fs', { outcome: 'EROFS', refused_by: 'fs.write' }),
  line('write', '${CWD}/would', 'fs', { refused_by: 'nothing' }),
  ['assay.sandbox.change', { change: 'created', path: '${CWD}/d/' }, '${CWD}/d/'],
  ['assay.sandbox.change', { change: 'attributes', path: '${CWD}/a' }, '${CWD}/a'],
  ['assay.sandbox.coverage', { surfaces: { reads: { status: 'complete', reasons: [] } } }],
  ['assay.sandbox.summary', { command: ['sh'], counters: { files_read: 1 }, notes: [] }],
  ['assay.coding_agent.evidence_pack.v0', {}],
  ['assay.profile.finished', { end: { exit_code: 3 } }, 'urn:assay:phase:profile'],
];

function line(op: string, path: string, type: string, more: object = {}): Draft {
  return [`assay.sandbox.${type}`, { ...LINE, op, path, ...more }, path];
}

export const MANIFEST: BundleManifest = {
  schema_version: 1,
  bundle_id: 'sha256:2',
  producer: { name: 'assay', version: '0.1.0' },
  run_id: RUN_ID,
  event_count: DRAFTS.length,
  run_root: 'sha256:2',
  algorithms: { canon: '', hash: '', root: '' },
  files: {},
  sandbox: {
    format: 'assay.sandbox-bundle.v1',
    run_digest: 'sha256:3',
    policy: { name: 'p.yaml', digest: 'sha256:1' },
    mode: 'containment',
    level: 'all',
    coverage: { reads: 'complete', network: 'partial' },
    non_claims: [],
    end: { exit_code: 3, signal: 0, timed_out: false, limit: null, exec_error: null },
  },
};

function toEvent([type, data, subject]: Draft, seq: number): BundleEvent {
  return {
    specversion: '1.0',
    type,
    source: 'urn:assay:sandbox',
    id: `${RUN_ID}:${seq}`,
    time: `2026-01-02T03:04:05.${String(seq).padStart(3, '0')}Z`,
    datacontenttype: 'application/json',
    subject,
    assayrunid: RUN_ID,
    assayseq: seq,
    assayproducer: 'assay',
    assayproducerversion: '0.1.0',
    assaygit: 'unknown',
    assaypii: false,
    assaysecrets: false,
    assaycontenthash: 'sha256:0',
    data,
  };
}

export const EVENTS: readonly BundleEvent[] = DRAFTS.map(toEvent);
export const SAMPLE: EventSource = { manifest: MANIFEST, events: () => EVENTS };
