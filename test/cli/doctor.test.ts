import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatDoctorReport } from '../../src/cli/doctor/format.ts';
import { DOCTOR_EXIT, type DoctorReport, makeDoctorReport } from '../../src/cli/doctor/report.ts';
import type { HostFacts } from '../../src/host/facts.ts';
import { applyProbe } from '../../src/host/probe-facts.ts';
import { type ProbeErrors, type ProbeName, PROBES } from '../../src/host/probes.ts';
import type { HostSwitches } from '../../src/host/switches.ts';
import { LAYERS } from '../../src/plan/plan.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');

const SWITCHES: HostSwitches = {
  maxUserNamespaces: 0,
  isUsernsCloneOff: false,
  isApparmorRestricting: false,
  isFiltered: false,
  isContainer: false,
  modules: [],
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
}

function diagnose({ failing = {}, abi = 6, facts = {} }: Host): DoctorReport {
  const errors = Object.fromEntries(
    PROBES.map((name) => [name, failing[name] ?? '']),
  ) as ProbeErrors;
  const probed = applyProbe(
    { ...GUESS, ...facts },
    { errors, landlockAbi: errors.landlock === '' ? abi : 0 },
    SWITCHES,
  );
  const probe = { facts: probed, errors, switches: SWITCHES };
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

  it('is none where nothing works, with advice for containers', () => {
    const report = diagnose({ failing: EVERYTHING });
    expect(report.status).toBe('none');
    expect(report.advice.some(({ text }) => text.includes('seccomp=unconfined'))).toBe(true);
  });

  it('exits by status', () => {
    expect(DOCTOR_EXIT).toEqual({ full: 0, degraded: 1, none: 2 });
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
