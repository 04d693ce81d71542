import type { HostProbe } from '../../host/probe-facts.ts';
import type { ProbeName } from '../../host/probes.ts';
import type { Layer, LayerReport } from '../../plan/plan.ts';

/** What the user can do about a layer that is missing here. */
export interface Advice {
  readonly layer: Layer;
  readonly text: string;
}

const PROBE_OF: Readonly<Partial<Record<Layer, ProbeName>>> = {
  landlock: 'landlock',
  seccomp: 'seccomp',
  broker: 'notify',
  user: 'user',
  mount: 'mount',
  pid: 'pid',
  ipc: 'ipc',
  net: 'net',
  nft: 'nft',
};

const UNCONFINED =
  'in a container: start it with --security-opt seccomp=unconfined (and apparmor=unconfined), or a profile that allows it';

function adviseLandlock(error: string): string {
  if (error === 'EOPNOTSUPP') return 'add landlock to the lsm= list on the kernel command line';
  if (error === 'EPERM') return UNCONFINED;
  return `use Linux 5.13 or later, built with CONFIG_SECURITY_LANDLOCK; ${UNCONFINED}`;
}

function adviseNamespace(error: string, { switches }: HostProbe): string {
  if (error === 'ENOSPC' || error === 'EUSERS')
    return switches.maxUserNamespaces === 0
      ? 'sysctl -w user.max_user_namespaces=15000'
      : 'raise the user.max_*_namespaces sysctls';
  if (switches.isUsernsCloneOff) return 'sysctl -w kernel.unprivileged_userns_clone=1';
  if (switches.isApparmorRestricting)
    return 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give the helper an AppArmor profile with "userns,"';
  if (error === 'ENOSYS' || error === 'EINVAL')
    return `use a kernel built with user namespaces, Linux 5.12 or later; ${UNCONFINED}`;
  return UNCONFINED;
}

function adviseBroker(error: string): string {
  if (error === 'EBUSY')
    return 'start assay outside of the other supervisor: a kernel lets only one listen';
  if (error === 'EINVAL') return 'use Linux 5.19 or later';
  return UNCONFINED;
}

function adviseCgroup({ facts }: HostProbe): string {
  if (facts.uid === 0)
    return 'mount the cgroup tree writable; in a container: run it with a private, writable cgroup namespace';
  return 'let systemd delegate: systemd-run --user --scope -p Delegate=yes assay …, or Delegate=yes in the unit';
}

function adviseOne({ layer, status }: LayerReport, probe: HostProbe): string {
  if (layer === 'cgroup') return adviseCgroup(probe);
  const name = PROBE_OF[layer];
  const error = name === undefined ? '' : probe.errors[name];
  if (layer === 'landlock' && status === 'partial')
    return 'use Linux 6.12 or later for all that Landlock offers';
  // The layer itself works; what it stands on does not, and that has its own advice.
  if (error === '') return '';
  if (layer === 'landlock') return adviseLandlock(error);
  if (layer === 'broker') return adviseBroker(error);
  if (layer === 'seccomp') return `use a kernel built with CONFIG_SECCOMP_FILTER; ${UNCONFINED}`;
  if (layer === 'nft' && probe.errors.net === '')
    return 'use a kernel with CONFIG_NFT_TPROXY; where it is a module: modprobe nft_tproxy';
  return adviseNamespace(error, probe);
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
