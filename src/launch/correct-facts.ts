import { type HostFacts, type Namespace, NAMESPACES } from '../host/facts.ts';
import { describeErrno, nameErrno } from './errno.ts';
import { helperPath } from './helper-path.ts';
import type { HelperReport } from './report.ts';

const NAMESPACE_STEPS: Readonly<Record<string, readonly Namespace[]>> = {
  user: ['user', 'mount', 'pid', 'ipc', 'net'],
  namespaces: ['mount', 'pid', 'ipc', 'net'],
  mount: ['mount', 'pid'],
  pid: ['pid'],
  net: ['net'],
};

/** The broker does without, if it has to. */
const COPYING = 'copying descriptors';

/** ENOTSUP and EOPNOTSUPP are one number with two names. */
const REFUSED_BY_HOST: ReadonlySet<string | undefined> = new Set(
  'EPERM EACCES ENOSYS EINVAL ENOSPC EUSERS ENOTSUP EOPNOTSUPP EROFS'.split(' '),
);

/** Which of them is missing, found out as assay doctor does; undefined where each can be had by itself. */
async function probeNamespaces(host: HostFacts): Promise<HostFacts | undefined> {
  const { probeFacts } = await import('../host/probe-facts.ts');
  const found = probeFacts({ helper: helperPath() }).facts.namespaces;
  const lost = NAMESPACES.filter(
    (name) => host.namespaces[name].isAvailable && !found[name].isAvailable,
  );
  const missing = Object.fromEntries(lost.map((name) => [name, found[name]]));
  return lost.length > 0 ? { ...host, namespaces: { ...host.namespaces, ...missing } } : undefined;
}

/** The facts without what the helper has just found missing; null when the failure is no fact about the host. */
export async function correctFacts(
  host: HostFacts,
  report: HelperReport,
): Promise<HostFacts | null> {
  if (report.abi !== undefined)
    return { ...host, landlockAbi: report.abi, landlockReason: 'not available to this process' };
  const { failed } = report;
  if (!failed) return null;
  const reason = `${failed.what}: ${describeErrno(failed.errno)}`;
  const missing = { isAvailable: false, reason } as const;
  if (failed.step === 'broker' && failed.what === COPYING && host.descriptors.isAvailable)
    return { ...host, descriptors: missing };
  if (failed.step === 'broker' && host.notify.isAvailable) {
    const busy = describeErrno(failed.errno).startsWith('EBUSY')
      ? 'another supervisor listens already'
      : reason;
    return { ...host, notify: { isAvailable: false, reason: busy } };
  }
  if (failed.step === 'seccomp' && host.seccomp.isAvailable) return { ...host, seccomp: missing };
  if (failed.step === 'landlock') return { ...host, landlockAbi: 0, landlockReason: reason };
  if (failed.step === 'pids' && host.hasPidMax) return { ...host, hasPidMax: false };
  if (failed.step === 'doors' && failed.what.startsWith('ipv6') && host.ipv6.isAvailable)
    return { ...host, ipv6: missing };
  if (failed.step === 'doors' && failed.what === 'lazy' && host.canBeLazy)
    return { ...host, canBeLazy: false };
  if (failed.step === 'doors' && host.nft.isAvailable) return { ...host, nft: missing };
  if (failed.step === 'cgroup') return { ...host, cgroup: { version: 0, reason } };
  // A path that is gone or a full table is no fact about the host: it is an error, and nothing runs with less.
  if (!REFUSED_BY_HOST.has(nameErrno(failed.errno))) return null;
  const lost = NAMESPACE_STEPS[failed.step]?.filter((name) => host.namespaces[name].isAvailable);
  if (!lost?.length) return null;
  const probed = await probeNamespaces(host);
  if (probed) return probed;
  return {
    ...host,
    namespaces: { ...host.namespaces, ...Object.fromEntries(lost.map((name) => [name, missing])) },
  };
}
