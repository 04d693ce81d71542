import { describe, expect, it } from 'vitest';
import type { BundleEvent, BundleManifest } from '../../../src/evidence/bundle/bundle.ts';
import type { LineData } from '../../../src/evidence/bundle/event-data.ts';
import { Findings } from '../../../src/evidence/claims/findings.ts';
import {
  judgeRequirement,
  type RequirementResult,
} from '../../../src/evidence/claims/judge-requirements.ts';
import { parseRequirements, type Requirement } from '../../../src/evidence/claims/requirement.ts';
import { SurfaceReader } from '../../../src/evidence/claims/surfaces.ts';

type Given = readonly [type: string, data: unknown, subject?: string];

const SURFACES = ['reads', 'changes', 'programs', 'network', 'environment'];

function started(network = 'private', mode = 'containment'): Given {
  return ['assay.profile.started', { network, mode, identity: 'sha256:0' }];
}

function coverage(gaps: Readonly<Record<string, string>> = {}): Given {
  const surfaces = SURFACES.map((name) => [
    name,
    gaps[name] === undefined
      ? { status: 'complete', reasons: [] }
      : { status: gaps[name], reasons: ['because'] },
  ]);
  return ['assay.sandbox.coverage', { surfaces: Object.fromEntries(surfaces) as unknown }];
}

function line(type: 'fs' | 'net' | 'folded', data: Partial<LineData>): Given {
  const base = { op: 'read', path: '${CWD}/a', outcome: 'ok', program: '/usr/bin/x' };
  return [`assay.sandbox.${type}`, { ...base, ...data }];
}

function judge(
  requirement: Requirement,
  given: readonly Given[],
  { isOlder = false }: { isOlder?: boolean } = {},
): RequirementResult {
  const findings = new Findings();
  const reader = new SurfaceReader();
  let stated: unknown = {};
  for (const [seq, [type, data, subject]] of given.entries()) {
    const event = { type, data, subject, assayseq: seq, time: '' } as unknown as BundleEvent;
    if (type === 'assay.sandbox.coverage')
      stated = Object.fromEntries(
        Object.entries((data as { surfaces: Record<string, { status: string }> }).surfaces).map(
          ([name, { status }]) => [name, status],
        ),
      );
    findings.add(event);
    reader.add(event);
  }
  const sandbox = isOlder ? undefined : ({ coverage: stated } as BundleManifest['sandbox']);
  return judgeRequirement(requirement, { findings, surfaces: reader.read({ sandbox }) });
}

describe('parseRequirements()', () => {
  it('takes each once', () => {
    expect(parseRequirements(['no-egress', 'complete:files', 'no-egress'])).toEqual([
      'no-egress',
      'complete:files',
    ]);
  });

  it.each(['no-network', 'complete:', 'constructor', 'complete:disk'])('refuses %s', (text) => {
    expect(() => parseRequirements([text])).toThrow(
      expect.objectContaining({
        code: 'E_USAGE',
        hint: expect.stringContaining('no-egress, no-denials') as string,
      }),
    );
  });
});

describe('no-egress', () => {
  it.each<[string, Partial<LineData>]>([
    ['nothing', { op: 'bind', path: 'tcp:127.0.0.1:80' }],
    ['loopback', { op: 'connect', path: 'tcp:127.0.0.1:8080' }],
    ['loopback of version 6', { op: 'connect', path: 'tcp:[::1]:8080' }],
    ['loopback in disguise', { op: 'connect', path: 'tcp:[::ffff:127.0.0.1]:${PORT}' }],
    ['the unspecified address', { op: 'connect', path: 'tcp:0.0.0.0:80' }],
    ['listening to all that there is', { op: 'bind', path: 'tcp:0.0.0.0:80' }],
    ['a socket in the private tmp', { op: 'connect', path: 'unix:${TMPDIR}/s' }],
    ['an abstract socket', { op: 'connect', path: 'unix:@x' }],
    ['netlink', { op: 'connect', path: '16:0' }],
    ['no way there', { op: 'connect', path: 'tcp:192.0.2.1:80', outcome: 'ENETUNREACH' }],
    [
      'a refused attempt',
      { op: 'connect', path: 'tcp:192.0.2.1:80', outcome: 'ECONNREFUSED', refused_by: '' },
    ],
    ['a socket that is not there', { op: 'connect', path: 'unix:/run/s', outcome: 'ENOENT' }],
  ])('is met by %s', (_, data) => {
    expect(judge('no-egress', [started(), line('net', data), coverage()]).status).toBe('met');
  });

  it.each<[string, Partial<LineData>]>([
    ['a connection', { op: 'connect', path: 'tcp:192.0.2.1:80' }],
    ['a connection of version 6', { op: 'connect', path: 'udp:[2001:db8::1]:53' }],
    ['a host that is named like loopback', { op: 'connect', path: 'tcp:127.example:80' }],
    ['an address that starts like loopback', { op: 'connect', path: 'tcp:[::1:2]:80' }],
    [
      'an outcome that is not known',
      { op: 'connect', path: 'tcp:192.0.2.1:80', outcome: 'unknown' },
    ],
    [
      'a connection that the other side refused',
      { op: 'connect', path: 'tcp:192.0.2.1:80', outcome: 'ECONNREFUSED' },
    ],
    [
      'one that would have been refused, and was not',
      { op: 'connect', path: 'tcp:192.0.2.1:80', refused_by: 'x' },
    ],
    ['a socket of the machine', { op: 'connect', path: 'unix:/run/docker.sock' }],
    ['a socket that only looks private', { op: 'connect', path: 'unix:${TMPDIR}/../run/s' }],
    ['another family', { op: 'connect', path: '40:2:1024' }],
  ])('is violated by %s', (_, data) => {
    expect(judge('no-egress', [started(), line('net', data), coverage()]).status).toBe('violated');
  });

  it.each<[string, Partial<LineData>]>([
    ['loopback', { op: 'connect', path: 'tcp:127.0.0.1:3128' }],
    ['an abstract socket', { op: 'connect', path: 'unix:@x' }],
    ['listening', { op: 'bind', path: 'tcp:0.0.0.0:80' }],
    ['what a router answered', { op: 'connect', path: 'tcp:192.0.2.1:80', outcome: 'ENETUNREACH' }],
  ])('is violated on the network of the host by %s', (_, data) => {
    const given = [started('host'), line('net', data), coverage()];
    expect(judge('no-egress', given).status).toBe('violated');
  });

  it('is violated in a dry run by what the policy would refuse', () => {
    const data = { op: 'connect', path: 'tcp:192.0.2.1:80', outcome: 'ETIMEDOUT', refused_by: '' };
    const given = [started('host', 'dry-run'), line('net', data), coverage()];
    expect(judge('no-egress', given).status).toBe('violated');
  });

  it('is not supported where the network was not watched completely, with the reason', () => {
    expect(judge('no-egress', [started(), coverage({ network: 'partial' })])).toEqual({
      requirement: 'no-egress',
      status: 'unsupported',
      detail: 'network partial (because)',
    });
  });

  it('is violated by what was seen also where not all was', () => {
    const data = { op: 'connect', path: 'tcp:192.0.2.1:80' };
    const given = [started(), line('net', data), coverage({ network: 'partial' })];
    expect(judge('no-egress', given)).toMatchObject({
      status: 'violated',
      detail: '1 way out was used: connect tcp:192.0.2.1:80',
    });
  });
});

describe('no-denials', () => {
  it('is met when nothing was refused and all was watched', () => {
    const failed = line('fs', { outcome: 'EACCES' });
    expect(judge('no-denials', [started(), failed, coverage()]).status).toBe('met');
  });

  it('is violated by a refusal, also by one that no rule is named for', () => {
    const given = ['a', 'b', 'c', 'd', 'e'].map((path) =>
      line('fs', { path, outcome: 'EACCES', refused_by: '' }),
    );
    expect(judge('no-denials', [started(), ...given, coverage()])).toMatchObject({
      status: 'violated',
      detail: '5 attempts were refused: read a, read b, read c, and 2 more',
    });
  });

  it.each(['reads', 'changes', 'programs', 'network'])('needs %s to be complete', (surface) => {
    expect(judge('no-denials', [started(), coverage({ [surface]: 'absent' })])).toMatchObject({
      status: 'unsupported',
      detail: `${surface} absent (because)`,
    });
  });
});

describe('no-writes-outside-workspace', () => {
  const requirement = 'no-writes-outside-workspace';

  it.each<[string, Given]>([
    ['a write in the workspace', line('fs', { op: 'write' })],
    ['a write in the private tmp', line('fs', { op: 'write', path: '${TMPDIR}/x' })],
    ['a write to nowhere', line('fs', { op: 'write', path: '/dev/null' })],
    ['a write to its own terminal', line('fs', { op: 'write', path: '/dev/pts/0' })],
    ['a note about its own process', line('fs', { op: 'write', path: '/proc/self/oom_score_adj' })],
    ['a read elsewhere', line('fs', { path: '/etc/passwd' })],
    ['a write that failed', line('fs', { op: 'write', path: '/etc/x', outcome: 'EROFS' })],
    ['a link that points elsewhere', line('fs', { op: 'symlink', target: '/etc/passwd' })],
    [
      'a change in the workspace',
      ['assay.sandbox.change', { change: 'created', path: '${CWD}/d/' }],
    ],
  ])('is met by %s', (_, given) => {
    expect(judge(requirement, [started(), given, coverage()]).status).toBe('met');
  });

  it.each<[string, Given]>([
    ['a write in the home', line('fs', { op: 'write', path: '${HOME}/.bashrc' })],
    ['a write elsewhere', line('fs', { op: 'write', path: '/var/x' })],
    ['one beside the workspace', line('fs', { op: 'write', path: '${CWD}/../x' })],
    ['one in a place that is named alike', line('fs', { op: 'write', path: '${CWD}2/x' })],
    ['a write whose end is not known', line('fs', { op: 'write', path: '/x', outcome: 'unknown' })],
    ['one of any outcome', line('fs', { op: 'write', path: '/x', outcome: '*' })],
    ['a rename out of it', line('fs', { op: 'rename', target: '/var/x' })],
    [
      'a hard link to what is elsewhere',
      line('fs', { op: 'link', path: '/etc/x', target: '${CWD}/x' }),
    ],
    ['a setting of the machine', line('fs', { op: 'write', path: '/proc/sys/kernel/x' })],
    ['shared memory', line('fs', { op: 'write', path: '/dev/shm/x' })],
    ['many writes told as one', line('folded', { op: 'overflow write', path: '/var/cache' })],
    ['a change', ['assay.sandbox.change', { change: 'removed', path: '${HOME}/x' }]],
  ])('is violated by %s', (_, given) => {
    expect(judge(requirement, [started(), given, coverage()]).status).toBe('violated');
  });

  it('needs changes to be complete, and nothing else', () => {
    const gaps = { reads: 'absent', network: 'absent' };
    expect(judge(requirement, [started(), coverage(gaps)]).status).toBe('met');
    expect(judge(requirement, [started(), coverage({ changes: 'partial' })]).status).toBe(
      'unsupported',
    );
  });
});

describe('complete', () => {
  it('takes reads and changes for files', () => {
    expect(judge('complete:files', [coverage()]).status).toBe('met');
    for (const surface of ['reads', 'changes'])
      expect(judge('complete:files', [coverage({ [surface]: 'partial' })])).toMatchObject({
        status: 'unsupported',
        detail: `${surface} partial (because)`,
      });
  });

  it.each(SURFACES)('asks for %s alone', (surface) => {
    const requirement = `complete:${surface}` as Requirement;
    const others = Object.fromEntries(
      SURFACES.filter((name) => name !== surface).map((name) => [name, 'absent']),
    );
    expect(judge(requirement, [coverage(others)]).status).toBe('met');
    expect(judge(requirement, [coverage({ [surface]: 'absent' })]).status).toBe('unsupported');
  });

  it('is not met where the bundle says nothing', () => {
    expect(judge('complete:network', []).status).toBe('unsupported');
  });
});

describe('a bundle of the older format', () => {
  const pack = (claim: string): Given => [
    'assay.coding_agent.evidence_pack.v0',
    { coverage: { files: claim, commands: claim, network: claim } },
  ];
  const all = ['no-egress', 'no-denials', 'no-writes-outside-workspace', 'complete:files'] as const;

  it.each(['observed', 'partial', 'absent', 'unavailable', 'self_reported'])(
    'supports nothing by saying "%s"',
    (claim) => {
      for (const requirement of all)
        expect(judge(requirement, [pack(claim)], { isOlder: true }).status).toBe('unsupported');
    },
  );

  it('still tells what it did', () => {
    const given: Given = ['assay.net.connect', { hits: 1 }, 'api.example.com:443'];
    expect(judge('no-egress', [given], { isOlder: true }).status).toBe('violated');
  });

  it.each([null, 1, 'x', [], {}])('may hold %j where data is expected', (data) => {
    const types = ['assay.profile.started', 'assay.coding_agent.evidence_pack.v0'];
    const given = types.map((type): Given => [type, data]);
    expect(judge('no-egress', given, { isOlder: true }).status).toBe('unsupported');
  });
});
