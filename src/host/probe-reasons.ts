import type { ProbeName } from './probes.ts';
import type { HostSwitches } from './switches.ts';

const WHAT: Readonly<Record<ProbeName, string>> = {
  landlock: 'Landlock',
  user: 'user namespaces',
  mount: 'mount namespaces',
  pid: 'pid namespaces',
  ipc: 'IPC namespaces',
  net: 'network namespaces',
  nft: 'nf_tables with tproxy',
  seccomp: 'seccomp filters',
  notify: 'seccomp notification',
};

/** Each of these is one sysctl that sets a ceiling; ENOSPC says that it is reached. */
const CEILINGS: Readonly<Partial<Record<ProbeName, string>>> = {
  user: 'user.max_user_namespaces',
  mount: 'user.max_mnt_namespaces',
  pid: 'user.max_pid_namespaces',
  ipc: 'user.max_ipc_namespaces',
  net: 'user.max_net_namespaces',
  nft: 'user.max_net_namespaces',
};

/** What nf_tables answers where a part of it is neither built in nor a module that can be loaded. */
const NOT_BUILT: ReadonlySet<string> = new Set(
  'ENOENT EPROTONOSUPPORT EOPNOTSUPP EAFNOSUPPORT ENOPROTOOPT'.split(' '),
);

function explainCeiling(name: ProbeName, { maxUserNamespaces }: HostSwitches): string {
  if (maxUserNamespaces === 0) return 'user.max_user_namespaces is 0';
  return `the limit ${CEILINGS[name] ?? 'on namespaces'} is reached`;
}

function explainForbidden(name: ProbeName, switches: HostSwitches): string {
  if (CEILINGS[name] !== undefined) {
    if (switches.isUsernsCloneOff) return 'kernel.unprivileged_userns_clone is 0';
    if (switches.isApparmorRestricting) return 'AppArmor restricts unprivileged user namespaces';
  }
  const who =
    switches.isFiltered || switches.isContainer ? 'the container around assay' : 'this host';
  return `${who} forbids ${WHAT[name]}`;
}

function explainInvalid(name: ProbeName): string {
  if (name === 'notify') return 'the kernel is older than 5.19';
  return `the kernel is built without ${WHAT[name]}`;
}

/** Why a try failed, in words. The error's name stays in the sentence for whoever wants to look further. */
export function explainErrno(name: ProbeName, error: string, switches: HostSwitches): string {
  return `${chooseReason(name, error, switches)} (${error})`;
}

function chooseReason(name: ProbeName, error: string, switches: HostSwitches): string {
  if (name === 'nft' && NOT_BUILT.has(error)) return `the kernel lacks ${WHAT.nft}`;
  switch (error) {
    case 'ENOSPC':
    case 'EUSERS': // as ENOSPC, before Linux 4.9
      return explainCeiling(name, switches);
    case 'EPERM':
    case 'EACCES':
      return explainForbidden(name, switches);
    case 'EBUSY':
      return name === 'notify' ? 'another supervisor listens already' : `${WHAT[name]} are in use`;
    case 'ENOSYS':
      // A container's filter may say so too, to make programs fall back.
      return switches.isFiltered
        ? `the kernel lacks ${WHAT[name]}, or the filter around assay hides it`
        : `the kernel lacks ${WHAT[name]}`;
    case 'EOPNOTSUPP':
      return `${WHAT[name]} was turned off when the machine was started`;
    case 'EINVAL':
      return explainInvalid(name);
    default:
      return `${WHAT[name]} could not be tried`;
  }
}
