import type Docker from 'dockerode';
import { nameOwner } from '../owner.ts';
import type { SandboxLimits } from '../spec.ts';
import { WORKSPACE } from '../spec.ts';

export const STEWARD = '/usr/lib/assay/steward';
export const CODE = '/run/assay/code';
/** Of sandboxes of all backends that go through an engine; its value is the backend. */
export const LABEL = 'assay.sandbox';
export const OWNER_LABEL = 'assay.owner';

/** Whom programs are, where no directory of the host says otherwise: nobody's account, and not the one called nobody. */
export const SANDBOX_UID = 61_000;

/** The steward and, for a call, its shepherd. */
const OWN_PROCESSES = 2;
/** Descriptors of the steward: streams of calls and connections. */
const STEWARD_FILES = 1024;
const MAX_SHM_BYTES = 16 * 1024 * 1024;
/** The root directory of a tmpfs counts. */
const OWN_INODES = 1;

export interface ContainerInput {
  readonly backend: string;
  readonly image: string;
  readonly limits: SandboxLimits;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Paths of the host. */
  readonly steward: string;
  readonly code: string;
  readonly workspace?: { readonly host: string; readonly isReadOnly: boolean } | undefined;
  readonly runtime?: string | undefined;
  /** Whether the engine is to forget it as soon as it has ended. */
  readonly isForgotten: boolean;
  /** For a kernel inside that counts otherwise. */
  readonly pidsLimit?: number | undefined;
  readonly memoryOverheadBytes?: number | undefined;
  /** Whether a memory file system can have an owner and a number of files. */
  readonly hasTmpfsOptions: boolean;
}

function makeTmpfs(
  { limits, user, hasTmpfsOptions }: ContainerInput,
  mode: { readonly owned: string; readonly shared: string },
): string {
  const { diskBytes, inodes } = limits;
  return [
    'rw',
    'exec',
    'nosuid',
    'nodev',
    ...(diskBytes === undefined ? [] : [`size=${diskBytes}`]),
    ...(hasTmpfsOptions
      ? [`mode=${mode.owned}`, `uid=${user.uid}`, `gid=${user.gid}`]
      : [`mode=${mode.shared}`]),
    ...(inodes === undefined ? [] : [`nr_inodes=${inodes + OWN_INODES}`]),
  ].join(',');
}

function makeMounts({ steward, code, workspace }: ContainerInput): Docker.MountSettings[] {
  const bind = (Source: string, Target: string, ReadOnly: boolean): Docker.MountSettings => ({
    Type: 'bind',
    Source,
    Target,
    ReadOnly,
    BindOptions: { Propagation: 'rprivate' },
  });
  return [
    bind(steward, STEWARD, true),
    bind(code, CODE, true),
    ...(workspace ? [bind(workspace.host, WORKSPACE, workspace.isReadOnly)] : []),
  ];
}

function makeUlimits({ limits }: ContainerInput): Docker.Ulimit[] {
  const both = (Name: string, value: number): Docker.Ulimit => ({ Name, Soft: value, Hard: value });
  const files = Math.max(STEWARD_FILES, limits.openFiles ?? 0);
  // Podman takes limits of its own that this host may not allow, unless both of these are given.
  return [both('nofile', files), both('nproc', 4096), both('core', 0)];
}

export function makeContainerOptions(input: ContainerInput): Docker.ContainerCreateOptions {
  const { limits, user, workspace } = input;
  const pids = limits.pids === undefined ? undefined : limits.pids + OWN_PROCESSES;
  const memory =
    limits.memoryBytes === undefined
      ? undefined
      : limits.memoryBytes + (input.memoryOverheadBytes ?? 0);
  return {
    Image: input.image,
    Entrypoint: [STEWARD],
    Cmd: [],
    User: `${user.uid}:${user.gid}`,
    WorkingDir: '/',
    Hostname: 'sandbox',
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    Labels: { [LABEL]: input.backend, [OWNER_LABEL]: nameOwner() },
    HostConfig: {
      AutoRemove: input.isForgotten,
      NetworkMode: 'none',
      IpcMode: 'private',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'none', Config: {} },
      Mounts: makeMounts(input),
      Tmpfs: {
        '/tmp': makeTmpfs(input, { owned: '1777', shared: '1777' }),
        ...(workspace ? {} : { [WORKSPACE]: makeTmpfs(input, { owned: '0755', shared: '0777' }) }),
      },
      ShmSize: Math.min(MAX_SHM_BYTES, limits.diskBytes ?? MAX_SHM_BYTES),
      Ulimits: makeUlimits(input),
      ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
      ...(limits.cpus === undefined ? {} : { NanoCpus: Math.round(limits.cpus * 1e9) }),
      PidsLimit: input.pidsLimit ?? pids,
      ...(input.runtime === undefined ? {} : { Runtime: input.runtime }),
    },
  };
}

/** What an engine is told to give a container less of. */
export function makeUpdate(limits: SandboxLimits): Record<string, number> {
  const { memoryBytes, pids, cpus } = limits;
  return {
    ...(memoryBytes === undefined ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(pids === undefined ? {} : { PidsLimit: pids + OWN_PROCESSES }),
    ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
  };
}
