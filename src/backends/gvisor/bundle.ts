import { basename } from 'node:path';
import { CODE, STEWARD } from '../docker/container-options.ts';
import type { WorkspacePlan } from '../docker/workspace.ts';
import type { SandboxLimits } from '../spec.ts';
import { WORKSPACE } from '../spec.ts';
import { HOST_PROCESSES, SENTRY_BYTES } from './gvisor-profile.ts';

export interface BundleInput {
  readonly rootfs: string;
  readonly steward: string;
  readonly code: string;
  readonly workspace: WorkspacePlan;
  readonly limits: SandboxLimits;
  /** Of the control groups; none where they cannot be made. */
  readonly group?: string | undefined;
}

const STEWARD_FILES = 1024;
const PERIOD_US = 100_000;
const NOTHING = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
const NAMESPACES = ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type }));

interface Mount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

function makeTmpfs(destination: string, mode: string, input: BundleInput): Mount {
  const { limits, workspace } = input;
  const { uid, gid } = workspace.user;
  const options = [
    'nosuid',
    'nodev',
    `mode=${mode}`,
    `uid=${uid}`,
    `gid=${gid}`,
    ...(limits.diskBytes === undefined ? [] : [`size=${limits.diskBytes}`]),
  ];
  return { destination, type: 'tmpfs', source: 'tmpfs', options };
}

function makeMounts(input: BundleInput): Mount[] {
  const { steward, code, workspace } = input;
  const bind = (source: string, destination: string, access: 'ro' | 'rw'): Mount => ({
    destination,
    type: 'bind',
    source,
    options: ['bind', 'nosuid', 'nodev', access],
  });
  const { bound } = workspace;
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=0755'] },
    makeTmpfs('/dev/shm', '1777', input),
    makeTmpfs('/tmp', '1777', input),
    bound
      ? bind(bound.host, WORKSPACE, bound.isReadOnly ? 'ro' : 'rw')
      : makeTmpfs(WORKSPACE, '0755', input),
    bind(steward, STEWARD, 'ro'),
    bind(code, CODE, 'ro'),
  ];
}

function makeResources({ memoryBytes, cpus }: SandboxLimits): object {
  const memory = memoryBytes === undefined ? undefined : memoryBytes + SENTRY_BYTES;
  return {
    ...(memory === undefined ? {} : { memory: { limit: memory, swap: memory } }),
    ...(cpus === undefined
      ? {}
      : { cpu: { quota: Math.max(1000, Math.round(cpus * PERIOD_US)), period: PERIOD_US } }),
    pids: { limit: HOST_PROCESSES },
  };
}

/** The configuration of a bundle, as the runtime specification of the OCI has it. */
export function makeBundleConfig(input: BundleInput): object {
  const { workspace, limits, group } = input;
  const files = Math.max(STEWARD_FILES, limits.openFiles ?? 0);
  return {
    ociVersion: '1.0.0',
    process: {
      user: workspace.user,
      args: [STEWARD],
      env: [],
      cwd: '/',
      noNewPrivileges: true,
      capabilities: NOTHING,
      rlimits: [{ type: 'RLIMIT_NOFILE', hard: files, soft: files }],
    },
    root: { path: input.rootfs, readonly: true },
    hostname: 'sandbox',
    mounts: makeMounts(input),
    linux: {
      namespaces: NAMESPACES,
      ...(group === undefined
        ? {}
        : { cgroupsPath: `/${basename(group)}`, resources: makeResources(limits) }),
    },
  };
}
