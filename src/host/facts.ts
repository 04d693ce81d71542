export type Arch = 'x64' | 'arm64';

/** Whether this machine offers something, and if not, why not. */
export type Availability =
  { readonly isAvailable: true } | { readonly isAvailable: false; readonly reason: string };

export const NAMESPACES = ['user', 'mount', 'pid', 'ipc', 'net'] as const;
export type Namespace = (typeof NAMESPACES)[number];

/** What this machine can do. Guessed from cheap reads first; the helper confirms by doing. */
export interface HostFacts {
  readonly arch: Arch;
  readonly kernel: string;
  readonly uid: number;
  readonly gid: number;
  /** 0 when Landlock is absent. */
  readonly landlockAbi: number;
  readonly landlockReason?: string | undefined;
  readonly seccomp: Availability;
  /** seccomp user notification with WAIT_KILLABLE_RECV, no listener above us, and memory of programs that can be read. */
  readonly notify: Availability;
  /** Copies of a program's descriptors can be had. */
  readonly descriptors: Availability;
  readonly namespaces: Readonly<Record<Namespace, Availability>>;
  /** nf_tables can lead the connections of a network namespace to a socket in it. */
  readonly nft: Availability;
  /** IPv6 addresses can have a door. */
  readonly ipv6: Availability;
  /** Ports below 1024 of a network namespace can be opened to all in it. */
  readonly canBeLazy: boolean;
  /** The highest process number can be set for a pid namespace, since Linux 6.14. */
  readonly hasPidMax: boolean;
  readonly cgroup: CgroupFacts;
}

export interface CgroupFacts {
  /** Directories in which this user can make a cgroup, by controller; v1 has one tree a controller. */
  readonly memory?: string | undefined;
  readonly pids?: string | undefined;
  readonly cpu?: string | undefined;
  readonly version: 0 | 1 | 2;
  /** That of version 2 which gives no controllers on yet, and the controllers that it can give. */
  readonly claimed?: { readonly directory: string; readonly controllers: readonly string[] };
  readonly reason?: string | undefined;
}
