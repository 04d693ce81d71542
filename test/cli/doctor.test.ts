import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeApparmorProfile } from '../../src/cli/doctor/apparmor.ts';
import { formatDoctorReport } from '../../src/cli/doctor/format.ts';
import { DOCTOR_EXIT, type DoctorReport, makeDoctorReport } from '../../src/cli/doctor/report.ts';
import type { HostFacts } from '../../src/host/facts.ts';
import { applyProbe } from '../../src/host/probe-facts.ts';
import { type ProbeErrors, type ProbeName, PROBES } from '../../src/host/probes.ts';
import type { HostSwitches } from '../../src/host/switches.ts';
import { LAYERS } from '../../src/plan/plan.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');

const SWITCHES: HostSwitches = {
  closedCeilings: ['user.max_user_namespaces'],
  apparmorProfile: null,
  procCovers: [],
  isUsernsCloneOff: false,
  isApparmorRestricting: false,
  ptraceScope: 0,
  isFiltered: false,
  isContainer: false,
};

const GUESS: HostFacts = {
  arch: 'x64',
  kernel: '6.12.0',
  uid: 1000,
  gid: 1000,
  nft: { isAvailable: true },
  ipv6: { isAvailable: true },
  canBeLazy: true,
  hasPidMax: false,
  landlockAbi: 0,
  seccomp: { isAvailable: true },
  notify: { isAvailable: true },
  descriptors: { isAvailable: true },
  namespaces: {
    user: { isAvailable: true },
    mount: { isAvailable: true },
    pid: { isAvailable: true },
    ipc: { isAvailable: true },
    net: { isAvailable: true },
  },
  cgroup: { version: 0, reason: 'no cgroup is delegated to this user' },
};

interface Host {
  readonly failing?: Partial<Record<ProbeName, string>>;
  readonly abi?: number;
  readonly facts?: Partial<HostFacts>;
  readonly switches?: HostSwitches;
}

function diagnose({ failing = {}, abi = 6, facts = {}, switches = SWITCHES }: Host): DoctorReport {
  const errors = Object.fromEntries(
    PROBES.map((name) => [name, failing[name] ?? '']),
  ) as ProbeErrors;
  const probed = applyProbe(
    { ...GUESS, ...facts },
    { errors, landlockAbi: errors.landlock === '' ? abi : 0 },
    switches,
  );
  const probe = { facts: probed, errors, switches };
  return makeDoctorReport({ version: '1.2.3', userName: 'ada', probe });
}

const NO_NAMESPACES = {
  user: 'ENOSPC',
  mount: 'ENOSPC',
  pid: 'ENOSPC',
  ipc: 'ENOSPC',
  net: 'ENOSPC',
};
const EVERYTHING = Object.fromEntries(PROBES.map((name) => [name, 'EPERM']));

function textOf(report: DoctorReport, topic: string): string {
  return report.meanings.find((meaning) => meaning.topic === topic)?.text ?? '';
}

describe('makeDoctorReport()', () => {
  it('reports every layer, in the order of the banner', () => {
    expect(diagnose({}).layers.map(({ layer }) => layer)).toEqual([...LAYERS]);
  });

  it('is full where all but cgroups is there, and says that memory is a soft limit', () => {
    const report = diagnose({});
    expect(report.status).toBe('full');
    expect(textOf(report, 'limit: memory')).toMatch(/^soft: .*no cgroup is delegated/);
    expect(report.advice).toEqual([
      { layer: 'cgroup', text: expect.stringContaining('Delegate=yes') as string },
    ]);
  });

  it('is degraded without namespaces, and names the sysctl once', () => {
    const report = diagnose({ failing: NO_NAMESPACES });
    expect(report.status).toBe('degraded');
    expect(textOf(report, 'deny inside allow')).toBe('enforced by the broker');
    expect(textOf(report, 'network')).toContain('own loopback: no');
    const advice = report.advice.filter(({ text }) => text.includes('user.max_user_namespaces'));
    expect(advice).toHaveLength(1);
  });

  it('is degraded without the broker: nothing protects files that appear later', () => {
    const report = diagnose({ failing: { notify: 'EBUSY' } });
    expect(report.status).toBe('degraded');
    expect(report.layers.find(({ layer }) => layer === 'broker')).toMatchObject({
      status: 'absent',
      reason: 'another supervisor listens already (EBUSY)',
    });
    expect(textOf(report, 'files that appear later')).toContain('not protected');
  });

  it('calls an old Landlock partial, with the ABI and what it leaves open', () => {
    const landlock = diagnose({ abi: 3 }).layers.find(({ layer }) => layer === 'landlock');
    expect(landlock).toMatchObject({ status: 'partial', detail: 'ABI 3' });
    expect(landlock?.reason).toContain('TCP');
  });

  it('calls a cgroup tree without memory partial', () => {
    const report = diagnose({ facts: { cgroup: { version: 1, pids: '/sys/fs/cgroup/pids' } } });
    expect(report.layers.find(({ layer }) => layer === 'cgroup')).toMatchObject({
      status: 'partial',
      reason: 'cannot limit memory',
      detail: 'v1: pids',
    });
  });

  it('is none where nothing works, with advice for containers in a container only', () => {
    const advise = (isContainer: boolean): string[] => {
      const switches = { ...SWITCHES, closedCeilings: [], isContainer };
      const report = diagnose({ failing: EVERYTHING, switches });
      expect(report.status).toBe('none');
      return report.advice.map(({ text }) => text);
    };
    expect(advise(true).some((text) => text.includes('seccomp=unconfined'))).toBe(true);
    expect(advise(false).filter((text) => text.includes('container'))).toEqual([]);
  });

  const POWERLESS = { user: 'EPERM', mount: 'EPERM', pid: 'EPERM', ipc: 'EPERM', net: 'EPERM' };
  const COVERED = { procCovers: ['/proc/acpi', '/proc/keys'] };
  it.each([
    [
      { isApparmorRestricting: true },
      POWERLESS,
      'user',
      /doctor --apparmor > .*apparmor_parser -r/,
    ],
    [{ apparmorProfile: 'session' }, POWERLESS, 'user', /doctor --apparmor > .*apparmor_parser -r/],
    [{ apparmorProfile: 'engine', isContainer: true }, POWERLESS, 'user', /apparmor=unconfined/],
    [
      { isUsernsCloneOff: true },
      POWERLESS,
      'user',
      /^sysctl -w kernel.unprivileged_userns_clone=1$/,
    ],
    [
      { closedCeilings: ['user.max_net_namespaces'] },
      { net: 'ENOSPC', nft: 'ENOSPC' },
      'net',
      /^sysctl -w user.max_net_namespaces=15000$/,
    ],
    [COVERED, { pid: 'EPERM' }, 'pid', /^umount \/proc\/acpi \/proc\/keys$/],
    [{ ...COVERED, isContainer: true }, { pid: 'EPERM' }, 'pid', /systempaths=unconfined/],
  ] as const)('with %j and %j failing: one command, for this host', (is, failing, layer, text) => {
    const switches = { ...SWITCHES, closedCeilings: [], ...is };
    const advice = diagnose({ failing, switches }).advice.filter((one) => one.layer !== 'cgroup');
    expect(advice).toEqual([{ layer, text: expect.stringMatching(text) as string }]);
  });

  it('is never full where a run is warned', () => {
    const report = diagnose({ failing: { net: 'ENOSPC', nft: 'ENOSPC' } });
    expect(report.warnings.map(({ rule }) => rule)).toEqual(['network']);
    expect(report.status).toBe('degraded');
  });

  it('exits by status', () => {
    expect(DOCTOR_EXIT).toEqual({ full: 0, degraded: 1, none: 2 });
  });
});

describe('makeApparmorProfile()', () => {
  it('names the helper, however its path is spelt', () => {
    expect(makeApparmorProfile('/opt/a b/[x]*/assay-helper')).toContain(
      'profile assay-helper "/opt/a b/\\[x\\]\\*/assay-helper" flags=(unconfined) {\n  userns,\n}\n',
    );
  });
});

describe('formatDoctorReport()', () => {
  it('shows layers, meanings, advice and the status', () => {
    expect(formatDoctorReport(diagnose({ failing: NO_NAMESPACES, abi: 3 }))).toMatchSnapshot();
  });
});

describe.skipIf(!existsSync(ASSAY))('assay doctor', () => {
  it('prints the same report as text and as JSON', () => {
    const doctor = (...args: string[]) =>
      spawnSync(ASSAY, ['doctor', ...args], { encoding: 'utf8', timeout: 30_000 });
    const json = doctor('--json');
    const report = JSON.parse(json.stdout) as DoctorReport;
    expect(report.schema).toBe('assay.doctor.v1');
    expect(json.status).toBe(DOCTOR_EXIT[report.status]);
    const text = doctor();
    expect(text.status).toBe(json.status);
    expect(text.stdout).toBe(formatDoctorReport(report));
  });
});
