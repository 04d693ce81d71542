import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderLintJson } from '../../../src/artifacts/lint-json.ts';
import { renderLintText } from '../../../src/artifacts/lint-text.ts';
import { renderSarif } from '../../../src/artifacts/sarif.ts';
import { EVENT_TYPES } from '../../../src/evidence/bundle/event-data.ts';
import { OWN_RULES } from '../../../src/evidence/lint/rules.ts';
import {
  changed,
  claimed,
  coverage,
  type Draft,
  findingsOf,
  folded,
  fs,
  lintEvents,
  type LintOptions,
  net,
  run,
  started,
  stated,
} from './lint-events.ts';

interface Case {
  readonly rule: string;
  readonly what: string;
  readonly events: readonly Draft[];
  /** So near to it that a careless rule would fire. */
  readonly nearMiss: readonly Draft[];
  readonly place?: string;
  readonly options?: LintOptions;
  readonly missOptions?: LintOptions;
}

const layers = (...present: readonly string[]): Draft => ({
  type: EVENT_TYPES.layers,
  data: {
    layers: ['landlock', 'mount', 'broker', 'cgroup'].map((layer) => ({
      layer,
      status: present.includes(layer) ? 'enforced' : 'absent',
      reason: present.includes(layer) ? '' : 'left out',
    })),
  },
});

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const DECISION = {
  schema: 'assay.enforcement_decision.v0',
  tool: { name: 'deploy' },
  action: { target_digest: 'sha256:1' },
};
const denial = (code = -32_042): Draft => ({
  type: 'assay.denied_call',
  data: {
    schema: 'assay.denied_call_observation.v0',
    caller_visible_error: { code, origin: 'assay-proxy' },
    call: { tool_name: 'deploy', target_digest: 'sha256:1' },
  },
});
const decision = (rest: object): Draft => ({
  type: 'assay.enforcement_decision',
  data: { ...DECISION, ...rest },
});

const CASES: readonly Case[] = [
  {
    rule: 'ASSAY-INT-001',
    what: 'the older format',
    events: [],
    options: { isSandbox: false },
    nearMiss: [],
  },
  {
    rule: 'ASSAY-HON-001',
    what: 'a statement about what was watched in part',
    events: [
      coverage('complete', { network: 'partial' }),
      stated('No network connection was made.'),
    ],
    nearMiss: [
      coverage('complete', { reads: 'absent' }),
      stated('No network connection was made.'),
    ],
    place: 'No network connection was made.',
  },
  {
    rule: 'ASSAY-HON-001',
    what: 'a statement without any coverage',
    events: [stated('No file was changed outside the private tmp.')],
    nearMiss: [coverage('complete'), stated('No file was changed outside the private tmp.')],
  },
  {
    rule: 'ASSAY-HON-001',
    what: 'a statement about what was folded',
    events: [
      folded('create', '${CWD}/x'),
      coverage('complete'),
      stated('No protected configuration was changed.'),
    ],
    nearMiss: [
      folded('read', '${CWD}/x'),
      coverage('complete'),
      stated('No protected configuration was changed.'),
    ],
  },
  {
    rule: 'ASSAY-HON-001',
    what: 'a statement that nobody knows, where something was not watched',
    events: [coverage('complete', { reads: 'absent' }), stated('Nothing bad happened.')],
    nearMiss: [coverage('complete'), stated('Nothing bad happened.')],
  },
  {
    rule: 'ASSAY-HON-002',
    what: 'a connection where none is said to be',
    events: [
      net('tcp:127.0.0.1:80'),
      coverage('complete'),
      stated('No network connection was made.'),
    ],
    nearMiss: [
      net('tcp:127.0.0.1:80'),
      coverage('complete'),
      stated('No connection was made but over loopback.'),
    ],
  },
  {
    rule: 'ASSAY-HON-002',
    what: 'a change outside where none is said to be',
    events: [
      changed('created', '/etc/x'),
      coverage('complete'),
      stated('No file was changed outside the workspace and the private tmp.'),
    ],
    nearMiss: [
      changed('created', '${CWD}/x'),
      coverage('complete'),
      stated('No file was changed outside the workspace and the private tmp.'),
    ],
  },
  {
    rule: 'ASSAY-HON-002',
    what: 'a changed configuration where none is said to be',
    events: [
      changed('created', '${CWD}/.vscode/tasks.json'),
      coverage('complete'),
      stated('No protected configuration was changed.'),
    ],
    nearMiss: [
      changed('created', '${CWD}/vscode/tasks.json'),
      coverage('complete'),
      stated('No protected configuration was changed.'),
    ],
  },
  {
    rule: 'ASSAY-HON-002',
    what: 'a program of the workspace where none is said to have run',
    events: [
      run('${CWD}/tool'),
      coverage('complete'),
      stated("No program was run from outside the system's own directories."),
    ],
    nearMiss: [
      run('/usr/bin/tool'),
      coverage('complete'),
      stated("No program was run from outside the system's own directories."),
    ],
  },
  {
    rule: 'ASSAY-HON-002',
    what: 'a refusal where none is said to be',
    events: [
      fs('read', '/srv/x', { outcome: 'EACCES', refused_by: '' }),
      coverage('complete'),
      stated('No attempt was refused.'),
    ],
    nearMiss: [
      fs('read', '/srv/x', { outcome: 'ENOENT' }),
      coverage('complete'),
      stated('No attempt was refused.'),
    ],
  },
  {
    rule: 'ASSAY-HON-003',
    what: 'files that are observed although nothing is there about files',
    events: [
      run('/usr/bin/true'),
      claimed({ files: 'observed', commands: 'observed', network: 'absent' }),
    ],
    options: { isSandbox: false },
    nearMiss: [
      fs('write', './x'),
      run('/usr/bin/true'),
      claimed({ files: 'observed', commands: 'observed' }),
    ],
    missOptions: { isSandbox: false },
    place: 'files',
  },
  {
    rule: 'ASSAY-HON-003',
    what: 'tools that are observed although no tool is there',
    events: [claimed({ mcp_tools: 'observed' })],
    nearMiss: [{ type: 'assay.tool.decision' }, claimed({ mcp_tools: 'observed' })],
  },
  {
    rule: 'ASSAY-HON-004',
    what: 'observed files that the coverage does not know of',
    events: [
      fs('write', '${CWD}/x'),
      coverage('complete', { changes: 'partial' }),
      claimed({ files: 'observed' }),
    ],
    nearMiss: [
      coverage('complete', { network: 'partial' }),
      claimed({ files: 'observed', network: 'partial' }),
    ],
  },
  {
    rule: 'ASSAY-HON-005',
    what: 'a degradation',
    events: [
      { type: EVENT_TYPES.degraded, data: { component: 'network', detail: 'no net namespace' } },
    ],
    nearMiss: [{ type: 'assay.sandbox.degradeds', data: { component: 'network' } }],
    place: 'network',
  },
  {
    rule: 'ASSAY-HON-006',
    what: 'folded events',
    events: [folded('read', '${CWD}/node_modules')],
    nearMiss: [fs('read', '${CWD}/node_modules')],
  },
  {
    rule: 'ASSAY-HON-007',
    what: 'an absent layer',
    events: [layers('landlock', 'mount', 'broker')],
    nearMiss: [layers('landlock', 'mount', 'broker', 'cgroup')],
    place: 'cgroup',
  },
  {
    rule: 'ASSAY-HON-008',
    what: 'nothing that bounds writing',
    events: [layers('cgroup')],
    nearMiss: [layers('broker')],
  },
  {
    rule: 'ASSAY-HON-009',
    what: 'a dry run',
    events: [started({ mode: 'dry-run' })],
    nearMiss: [started()],
  },
  {
    rule: 'ASSAY-HON-010',
    what: 'a surface watched in part',
    events: [coverage('complete', { reads: 'partial' })],
    nearMiss: [coverage('complete', { reads: 'absent' })],
    place: 'reads',
  },
  {
    rule: 'ASSAY-HON-011',
    what: 'a surface not watched',
    events: [coverage('complete', { reads: 'absent' })],
    nearMiss: [coverage('complete', { reads: 'partial' })],
    place: 'reads',
  },
  {
    rule: 'ASSAY-HON-012',
    what: 'no word about coverage',
    events: [fs('read', '${CWD}/x')],
    nearMiss: [coverage('absent')],
  },
  {
    rule: 'ASSAY-CTL-001',
    what: 'a git hook',
    events: [fs('create', '${CWD}/.git/hooks/post-checkout')],
    nearMiss: [
      fs('create', '${CWD}/.git/hooks/post-checkout.sample'),
      fs('meta', '${CWD}/.git/hooks/post-checkout'),
      fs('mkdir', '${CWD}/.git/hooks'),
    ],
    place: '*.git/hooks',
  },
  {
    rule: 'ASSAY-CTL-001',
    what: 'a hook that is to run from now on',
    events: [fs('chmod+x', '${CWD}/.git/hooks/post-checkout')],
    nearMiss: [fs('chmod+x', '${CWD}/hooks/post-checkout')],
  },
  {
    rule: 'ASSAY-CTL-001',
    what: 'a file that was moved to where it runs',
    events: [fs('rename', '${CWD}/x', { target: '${HOME}/.bashrc' })],
    nearMiss: [fs('rename', '${TMPDIR}/x', { target: '${TMPDIR}/home/.bashrc' })],
    place: '.bashrc',
  },
  {
    rule: 'ASSAY-CTL-001',
    what: 'a changed workflow',
    events: [changed('modified', '${CWD}/.github/workflows/ci.yml')],
    nearMiss: [
      changed('modified', '${CWD}/.github/CODEOWNERS'),
      fs('read', '${CWD}/.github/workflows/ci.yml'),
    ],
  },
  {
    rule: 'ASSAY-CTL-002',
    what: 'a refused hook',
    events: [
      fs('create', '${CWD}/.git/hooks/pre-push', {
        outcome: 'EACCES',
        refused_by: 'configuration protection, config: *.git/hooks',
      }),
    ],
    nearMiss: [
      fs('create', '${CWD}/hooks/pre-push', { outcome: 'EACCES', refused_by: 'fs.deny: hooks' }),
    ],
  },
  {
    rule: 'ASSAY-CTL-002',
    what: 'a refused setting of git, which is no file by name',
    events: [
      fs('write', '${CWD}/.git/config', {
        outcome: 'EACCES',
        refused_by: 'git-guard: core.hooksPath',
      }),
    ],
    nearMiss: [fs('write', '${CWD}/.git/config')],
  },
  {
    rule: 'ASSAY-CTL-003',
    what: 'a connection to elsewhere',
    events: [net('tcp:192.0.2.1:443')],
    nearMiss: [
      net('tcp:127.0.0.1:443'),
      net('tcp:[::1]:443'),
      net('tcp:[::ffff:127.0.0.1]:443'),
      net('tcp:192.0.2.1:443', { outcome: 'ECONNREFUSED' }),
      net('tcp:192.0.2.1:443', { op: 'bind' }),
      net('unix:${TMPDIR}/s'),
    ],
    place: 'tcp:192.0.2.1:443',
  },
  {
    rule: 'ASSAY-CTL-003',
    what: 'a connection of the older format',
    events: [{ type: 'assay.net.connect', subject: 'api.example.com:443', data: { hits: 1 } }],
    options: { isSandbox: false },
    nearMiss: [{ type: 'assay.net.connect', subject: 'localhost:443', data: { hits: 1 } }],
    missOptions: { isSandbox: false },
  },
  {
    rule: 'ASSAY-CTL-012',
    what: 'a connection that did not come about',
    events: [net('tcp:192.0.2.1:443', { outcome: 'ENETUNREACH' })],
    nearMiss: [
      net('tcp:192.0.2.1:443'),
      net('tcp:127.0.0.1:443', { outcome: 'ECONNREFUSED' }),
      net('unix:/run/x', { outcome: 'ENOENT' }),
      net('tcp:192.0.2.1:443', { outcome: 'EACCES', refused_by: '' }),
      net('tcp:192.0.2.1:443', { op: 'bind', outcome: 'EADDRINUSE' }),
    ],
  },
  {
    rule: 'ASSAY-CTL-004',
    what: 'loopback of the host',
    events: [started({ network: 'host' }), net('tcp:127.0.0.1:5432')],
    nearMiss: [started({ network: 'host' }), net('tcp:127.0.0.1:${PORT}')],
  },
  {
    rule: 'ASSAY-CTL-005',
    what: 'a socket of the host',
    events: [net('unix:/run/docker.sock')],
    nearMiss: [
      net('unix:@abstract'),
      net('unix:${CWD}/s'),
      net('unix:/run/docker.sock', { outcome: 'ENOENT' }),
    ],
  },
  {
    rule: 'ASSAY-CTL-006',
    what: 'a program that was built',
    events: [fs('create', '${CWD}/a.out', { program: '/usr/bin/ld' }), run('${CWD}/a.out')],
    nearMiss: [
      fs('create', '${CWD}/a.out', { program: '/usr/bin/ld' }),
      run('${CWD}/b.out'),
      fs('chmod', '${CWD}/b.out'),
      fs('create', '${CWD}/c.out', { outcome: 'EACCES' }),
      run('${CWD}/c.out'),
    ],
    place: '${CWD}/a.out',
  },
  {
    rule: 'ASSAY-CTL-006',
    what: 'a script that was written',
    events: [fs('write', '${CWD}/x.sh'), run('/usr/bin/sh', { target: '${CWD}/x.sh' })],
    nearMiss: [fs('read', '${CWD}/x.sh'), run('/usr/bin/sh', { target: '${CWD}/x.sh' })],
  },
  {
    rule: 'ASSAY-CTL-006',
    what: 'a program in a directory that was moved, before the events that made it',
    events: [
      run('${CWD}/tool/bin/x'),
      fs('rename', '${CWD}/.tmp', { target: '${CWD}/tool' }),
      fs('create', '${CWD}/.tmp/bin/x'),
    ],
    nearMiss: [
      run('${CWD}/tool/bin/x'),
      fs('rename', '${CWD}/old', { target: '${CWD}/tool' }),
      fs('create', '${CWD}/.tmp/bin/x'),
    ],
  },
  {
    rule: 'ASSAY-CTL-006',
    what: 'a program in a directory whose events were folded',
    events: [run('${CWD}/dist/x'), folded('create', '${CWD}/dist')],
    nearMiss: [run('${CWD}/dist/x'), folded('read', '${CWD}/dist')],
  },
  {
    rule: 'ASSAY-CTL-007',
    what: 'a program that was fetched',
    events: [
      net('tcp:192.0.2.1:443', { program: '/usr/bin/curl' }),
      fs('create', '${TMPDIR}/x', { program: '/usr/bin/curl' }),
      run('${TMPDIR}/x'),
    ],
    nearMiss: [
      net('tcp:192.0.2.1:443', { program: '/usr/bin/curl' }),
      fs('create', '${TMPDIR}/x', { program: '/usr/bin/ld' }),
      run('${TMPDIR}/x'),
    ],
  },
  {
    rule: 'ASSAY-CTL-008',
    what: 'a file in the home',
    events: [fs('write', '${HOME}/notes')],
    nearMiss: [
      fs('write', '${CWD}/notes'),
      fs('create', '${TMPDIR}/x'),
      fs('write', '/dev/null'),
      fs('create', '/dev/shm/x'),
      fs('write', '/proc/self/oom_score_adj'),
      fs('write', '${HOME}/notes', { outcome: 'EROFS' }),
      fs('read', '${HOME}/notes'),
    ],
    place: '${HOME}/notes',
  },
  {
    rule: 'ASSAY-CTL-008',
    what: 'a neighbour of the workspace',
    events: [fs('write', '${CWD}/../other/x')],
    nearMiss: [fs('write', '${CWD}/..x')],
  },
  {
    rule: 'ASSAY-CTL-008',
    what: 'the older format, where the place is known',
    events: [fs('write', '/etc/hosts', { outcome: 'unknown' })],
    options: { isSandbox: false },
    nearMiss: [fs('write', '/srv/project/x', { outcome: 'unknown' }), fs('write', './x')],
    missOptions: { isSandbox: false },
  },
  {
    rule: 'ASSAY-CTL-009',
    what: 'a private key',
    events: [fs('read', '${HOME}/.ssh/id_ed25519')],
    nearMiss: [
      fs('read', '${HOME}/.ssh/id_ed25519.pub'),
      fs('read', '${HOME}/.ssh/known_hosts'),
      fs('read', '${CWD}/.sshd/x'),
    ],
    place: '~/.ssh',
  },
  {
    rule: 'ASSAY-CTL-009',
    what: 'a .env file',
    events: [fs('read', '${CWD}/.env.local')],
    nearMiss: [
      fs('read', '${CWD}/.env.example'),
      fs('read', '${CWD}/env'),
      fs('read', '${CWD}/.env.local'),
      fs('write', '${CWD}/.env.local'),
      changed('created', '${CWD}/.env.local'),
    ],
    place: '.env.local',
  },
  {
    rule: 'ASSAY-CTL-010',
    what: 'a refused read of credentials',
    events: [
      fs('read', '${HOME}/.aws/credentials', { outcome: 'EACCES', refused_by: 'fs.deny: ~/.aws' }),
    ],
    nearMiss: [fs('read', '${HOME}/.aws/credentials', { outcome: 'ENOENT' })],
    place: '~/.aws',
  },
  {
    rule: 'ASSAY-CTL-011',
    what: 'a look at what is not there',
    events: [fs('read', '${HOME}/.npmrc', { outcome: 'ENOENT' })],
    nearMiss: [fs('read', '${HOME}/.npm', { outcome: 'ENOENT' })],
    place: '~/.npmrc',
  },
  {
    rule: 'ASSAY-REF-001',
    what: 'a refused connection',
    events: [net('tcp:192.0.2.1:80', { outcome: 'ENETUNREACH', refused_by: '' })],
    nearMiss: [net('tcp:192.0.2.1:80', { outcome: 'ENETUNREACH' })],
  },
  {
    rule: 'ASSAY-REF-002',
    what: 'a refused write',
    events: [fs('create', '/srv/x', { outcome: 'EACCES', refused_by: '' })],
    nearMiss: [fs('create', '/srv/x', { outcome: 'EACCES' })],
  },
  {
    rule: 'ASSAY-REF-003',
    what: 'a refused read',
    events: [fs('read', '/srv/x', { outcome: 'EACCES', refused_by: 'fs.deny: /srv' })],
    nearMiss: [
      fs('read', '${HOME}/.ssh/id_rsa', { outcome: 'EACCES', refused_by: 'fs.deny: ~/.ssh' }),
    ],
  },
  {
    rule: 'ASSAY-REF-004',
    what: 'a refused program',
    events: [fs('exec', '/srv/tool', { outcome: 'EACCES', refused_by: '' })],
    nearMiss: [fs('exec', '/srv/tool', { outcome: 'ENOENT' })],
  },
  {
    rule: 'ASSAY-REF-005',
    what: 'a limit',
    events: [
      {
        type: EVENT_TYPES.limit,
        subject: 'pids',
        data: { op: 'limit', path: 'pids', outcome: 'ok', program: 'assay' },
      },
    ],
    nearMiss: [fs('read', 'pids')],
    place: 'pids',
  },
  {
    rule: 'ASSAY-W001',
    what: 'a token in the data',
    events: [{ type: 'x', data: { command: ['curl', '-H', `X: ${TOKEN}`] } }],
    nearMiss: [
      {
        type: 'x',
        data: { command: ['curl', 'task-list', '--token=', 'sk-data', 'token=[redacted]'] },
      },
    ],
    place: 'x /data/command/*',
  },
  {
    rule: 'ASSAY-W001',
    what: 'a password in the subject',
    events: [{ type: 'x', subject: 'https://ada:hunter22@example.com/' }],
    nearMiss: [{ type: 'x', subject: 'https://[redacted]@example.com/' }],
    place: 'x /subject',
  },
  {
    rule: 'ASSAY-W002',
    what: 'a subject in an event that is personal',
    events: [{ type: 'x', subject: 'ada', assaypii: true }],
    nearMiss: [
      { type: 'x', assaypii: true },
      { type: 'x', subject: 'ada' },
    ],
  },
  {
    rule: 'ASSAY-W002',
    what: 'an address in the data of an event that is personal',
    events: [{ type: 'x', data: { who: 'ada@lovelace.org' }, assaypii: true }],
    nearMiss: [{ type: 'x', data: { who: 'a person' }, assaypii: true }],
  },
  {
    rule: 'ASSAY-W003',
    what: 'a secret in an event that is not marked',
    events: [{ type: 'x', subject: `token=${TOKEN}` }],
    nearMiss: [{ type: 'x', subject: `token=${TOKEN}`, assaysecrets: true }],
  },
  {
    rule: 'ASSAY-W004',
    what: 'a denial that nothing backs',
    events: [denial(), decision({ decision: 'allow' })],
    nearMiss: [denial(), decision({ decision: 'deny' }), denial(-1)],
    place: 'deploy',
  },
  {
    rule: 'ASSAY-W005',
    what: 'an approval that cannot be read',
    events: [decision({ decision: 'allow', approval_retained_view: 'encrypted' })],
    nearMiss: [
      decision({ decision: 'allow', approval_retained_view: 'structured_meta_jcs' }),
      decision({ decision: 'allow' }),
    ],
  },
  {
    rule: 'ASSAY-I001',
    what: 'a source without a scheme',
    events: [{ type: 'x', source: 'assay:ci' }],
    nearMiss: [{ type: 'x', source: 'https://ci.example.com' }],
    place: 'assay:ci',
  },
  {
    rule: 'ASSAY-HYG-001',
    what: 'an e-mail address',
    events: [{ type: 'x', data: { note: 'by ada@lovelace.org' } }],
    nearMiss: [
      { type: 'x', data: { note: 'git@github.com left-pad@1.3.0 getty@tty1.service icon@2x.png' } },
    ],
    place: 'x /data/note',
  },
  {
    rule: 'ASSAY-HYG-001',
    what: 'the name of a home',
    events: [fs('read', '/home/ada/x')],
    nearMiss: [fs('read', '${HOME}/x'), fs('read', '/srv/home/ada/x'), fs('read', '/home')],
  },
];

describe('the rules', () => {
  it.each(CASES.map((one) => [one.rule, one.what, one] as const))(
    '%s finds %s, and not what is near to it',
    (rule, _what, { events, nearMiss, place, options = {}, missOptions = {} }) => {
      const found = findingsOf(lintEvents(events, options), rule);
      expect(found).toHaveLength(1);
      if (place !== undefined) expect(found[0]?.place).toBe(place);
      expect(findingsOf(lintEvents(nearMiss, missOptions), rule)).toEqual([]);
    },
  );

  it('are all tried', () => {
    const tried = new Set(CASES.map(({ rule }) => rule));
    expect(OWN_RULES.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([]);
    expect(tried.size).toBe(OWN_RULES.length);
  });

  it('have ids of one form, each once, and say what to do', () => {
    expect(new Set(OWN_RULES.map(({ id }) => id)).size).toBe(OWN_RULES.length);
    for (const { id, area, explanation, fix, securitySeverity = '0.0' } of OWN_RULES) {
      expect(id).toMatch(/^ASSAY-(?:(?:INT|HON|CTL|REF|HYG)-\d{3}|[WI]00\d)$/);
      const prefix = /^ASSAY-([A-Z]{3})-/.exec(id)?.[1]?.toLowerCase();
      if (prefix === 'int' || prefix === 'hon' || prefix === 'ref')
        expect(area.startsWith(prefix)).toBe(true);
      expect(explanation.length).toBeGreaterThan(40);
      expect(fix.length).toBeGreaterThan(10);
      expect(Number(securitySeverity)).toBeLessThanOrEqual(10);
    }
  });

  it('do not count a refusal twice', () => {
    const refused = { outcome: 'EACCES', refused_by: 'fs.deny: ~/.ssh' };
    const result = lintEvents([coverage('complete'), fs('read', '${HOME}/.ssh/id_rsa', refused)]);
    expect(result.findings.map(({ rule }) => rule.id)).toEqual(['ASSAY-CTL-010']);
  });

  it('hold for data of any shape', () => {
    const shapes = [
      null,
      1,
      'x',
      [],
      [1],
      {},
      { path: 1 },
      { surfaces: 1 },
      { layers: [null, 1] },
      { kind: 'network', path: 5, op: 7, change: 'created', surfaces: {}, name: 'x' },
    ];
    const types = [...Object.values(EVENT_TYPES), 'assay.fs.access', 'assay.net.connect'];
    const events = types.flatMap((type) => shapes.map((data) => ({ type, data })));
    expect(() => lintEvents(events, { isSandbox: false })).not.toThrow();
  });
});

describe('the rules on anything', () => {
  const types = [
    ...Object.values(EVENT_TYPES),
    'assay.fs.access',
    'assay.net.connect',
    'assay.process.exec',
    'assay.tool.decision',
  ];
  const names = [
    'op',
    'path',
    'target',
    'outcome',
    'program',
    'kind',
    'type',
    'surfaces',
    'layers',
  ];
  const data = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...names, 'statements', 'coverage', 'schema'), fc.jsonValue()),
  );
  const event = fc.record({
    type: fc.constantFrom(...types),
    subject: fc.string({ unit: 'grapheme' }),
    data,
  });

  it('find, and say it in every format', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        // Of ours only what has the right shape gets so far.
        const result = lintEvents(events, { isSandbox: false });
        expect(renderLintText(result)).not.toContain('undefined');
        expect(JSON.parse(renderLintJson(result))).toHaveProperty('findings');
        expect(JSON.parse(renderSarif(result))).toHaveProperty('runs');
      }),
      { numRuns: 500 },
    );
  });
});
