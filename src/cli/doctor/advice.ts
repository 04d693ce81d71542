import type { HostProbe } from '../../host/probe-facts.ts';
import { CEILINGS, isApparmorAtWork, isContained } from '../../host/probe-reasons.ts';
import type { ProbeName } from '../../host/probes.ts';
import type { Layer, LayerReport } from '../../plan/plan.ts';
import { APPARMOR_COMMAND } from './apparmor.ts';

/** What the user can do about a layer that is missing here. */
export interface Advice {
  readonly layer: Layer;
  readonly text: string;
}

const PROBE_OF: Readonly<Partial<Record<Layer, ProbeName>>> = {
  landlock: 'landlock',
  seccomp: 'seccomp',
  user: 'user',
  mount: 'mount',
  pid: 'pid',
  ipc: 'ipc',
  net: 'net',
  nft: 'nft',
};

const UNCONFINED =
  'start the container with --security-opt seccomp=unconfined (and apparmor=unconfined), or a profile that allows it';
const UNKNOWN =
  'a chroot, a filter or a security module around assay refuses it: start assay outside of that';

/** For what the host forbids: who can allow it depends on what is around assay. */
function adviseForbidden({ switches }: HostProbe): string {
  return isContained(switches) ? UNCONFINED : UNKNOWN;
}

function adviseLandlock(error: string, probe: HostProbe): string {
  if (error === 'EOPNOTSUPP') return 'add landlock to the lsm= list on the kernel command line';
  if (error === 'EPERM') return adviseForbidden(probe);
  return afterAll('use Linux 5.13 or later, built with CONFIG_SECURITY_LANDLOCK', probe);
}

/** A container's filter may say that a kernel lacks what it hides. */
function afterAll(text: string, { switches }: HostProbe): string {
  return isContained(switches) ? `${text}; or ${UNCONFINED}` : text;
}

function adviseNamespace(name: ProbeName, error: string, probe: HostProbe): string {
  const { switches } = probe;
  if (error === 'ENOSPC' || error === 'EUSERS') {
    const own = CEILINGS[name] ?? '';
    const { closedCeilings: closed } = switches;
    return `sysctl -w ${closed.includes(own) ? own : (closed[0] ?? own)}=15000`;
  }
  if (name === 'pid' && switches.procCovers.length > 0)
    return isContained(switches)
      ? 'start the container with --security-opt systempaths=unconfined (Podman: unmask=ALL)'
      : `umount ${switches.procCovers.join(' ')}`;
  if (switches.isUsernsCloneOff) return 'sysctl -w kernel.unprivileged_userns_clone=1';
  if (isApparmorAtWork(switches)) return `as root: ${APPARMOR_COMMAND}`;
  if (error === 'ENOSYS' || error === 'EINVAL')
    return afterAll('use a kernel built with user namespaces, Linux 5.12 or later', probe);
  return adviseForbidden(probe);
}

function adviseBroker(probe: HostProbe): string {
  const { errors, switches } = probe;
  const error = errors.notify;
  if (error === '') {
    if (switches.ptraceScope === 2) return 'sysctl -w kernel.yama.ptrace_scope=1';
    if (switches.ptraceScope > 2)
      return 'start the machine with kernel.yama.ptrace_scope below 2: 3 stays until then';
    return 'in a container: start it with --cap-add SYS_PTRACE';
  }
  if (error === 'EBUSY')
    return 'start assay outside of the other supervisor: a kernel lets only one listen';
  if (error === 'EINVAL') return 'use Linux 5.19 or later';
  return adviseForbidden(probe);
}

function adviseCgroup({ facts }: HostProbe): string {
  if (facts.uid === 0)
    return 'mount the cgroup tree writable; in a container: run it with a private, writable cgroup namespace';
  return 'let systemd delegate: systemd-run --user --scope -p Delegate=yes assay …, or Delegate=yes in the unit';
}

function adviseOne({ layer, status, reason }: LayerReport, probe: HostProbe): string {
  // What it stands on is missing, and has its own advice.
  if (reason.startsWith('needs ')) return '';
  if (layer === 'cgroup') return adviseCgroup(probe);
  if (layer === 'broker' && probe.errors.seccomp === '') return adviseBroker(probe);
  const name = PROBE_OF[layer];
  const error = name === undefined ? '' : probe.errors[name];
  if (layer === 'landlock' && status === 'partial')
    return 'use Linux 6.12 or later for all that Landlock offers';
  // The layer itself works; what it stands on does not, and that has its own advice.
  if (error === '') return '';
  if (name === undefined) return '';
  if (layer === 'landlock') return adviseLandlock(error, probe);
  if (layer === 'seccomp') return afterAll('use a kernel built with CONFIG_SECCOMP_FILTER', probe);
  if (layer === 'nft' && probe.errors.net === '')
    return 'use a kernel with CONFIG_NFT_TPROXY; where it is a module: modprobe nft_tproxy';
  return adviseNamespace(name, error, probe);
}

/** One piece of advice for each thing to be done; layers that lack the same thing share it. */
export function giveAdvice(reports: readonly LayerReport[], probe: HostProbe): Advice[] {
  const advice = new Map<string, Advice>();
  for (const report of reports) {
    if (report.status === 'enforced') continue;
    const text = adviseOne(report, probe);
    if (text !== '' && !advice.has(text)) advice.set(text, { layer: report.layer, text });
  }
  return [...advice.values()];
}
