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
  memory: 'reading the memory of programs',
  descriptors: 'copying descriptors of programs',
};

/** Each of these is one sysctl that sets a ceiling; ENOSPC says that it is reached. */
export const CEILINGS: Readonly<Partial<Record<ProbeName, string>>> = {
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

function explainCeiling(name: ProbeName, { closedCeilings }: HostSwitches): string {
  const ceiling = CEILINGS[name] ?? '';
  const closed = closedCeilings.find((sysctl) => sysctl === ceiling) ?? closedCeilings[0];
  return closed === undefined ? `the limit ${ceiling} is reached` : `${closed} is 0`;
}

function explainForbidden(name: ProbeName, switches: HostSwitches): string {
  if (CEILINGS[name] !== undefined) {
    if (switches.isUsernsCloneOff) return 'kernel.unprivileged_userns_clone is 0';
    if (isApparmorAtWork(switches)) return explainApparmor(switches);
  }
  if ((name === 'memory' || name === 'descriptors') && switches.ptraceScope > 1)
    return `kernel.yama.ptrace_scope is ${switches.ptraceScope}`;
  const who = isContained(switches) ? 'the container around assay' : 'this host';
  return `${who} forbids ${WHAT[name]}`;
}

function explainApparmor({ apparmorProfile }: HostSwitches): string {
  return apparmorProfile === null
    ? 'AppArmor restricts unprivileged user namespaces'
    : `the AppArmor profile ${apparmorProfile} restricts user namespaces`;
}

/** A container has a profile of its engine's, which the engine's options lift. */
export function isContained({ isFiltered, isContainer }: HostSwitches): boolean {
  return isFiltered || isContainer;
}

/** An ordinary process is confined by no profile; but where namespaces are restricted, who makes one is. */
export function isApparmorAtWork(switches: HostSwitches): boolean {
  const { isApparmorRestricting, apparmorProfile } = switches;
  return (isApparmorRestricting || apparmorProfile !== null) && !isContained(switches);
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
      if (name === 'pid' && switches.procCovers.length > 0)
        return `a mount over part of /proc keeps another from being mounted: ${switches.procCovers[0]}`;
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
