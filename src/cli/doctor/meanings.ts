import type { HostFacts } from '../../host/facts.ts';
import type { ActiveLayers } from '../../plan/layers.ts';
import { planLimits } from '../../plan/limits.ts';
import { canBroker } from '../../plan/network.ts';
import type { Layer, LayerStatus } from '../../plan/plan.ts';

/** What the layers of this host come to for one thing that a policy can ask for. */
export interface Meaning {
  readonly topic: string;
  readonly status: LayerStatus;
  readonly text: string;
  /** Limits are told apart: a soft one is kept late, but it is no hole in the boundary. */
  readonly isLimit: boolean;
}

const NAMES: Readonly<Partial<Record<Layer, string>>> = {
  landlock: 'Landlock',
  broker: 'the broker',
};

function enforcedBy(has: ActiveLayers['has'], layers: readonly Layer[]): string {
  const names = layers.filter((layer) => has[layer]).map((layer) => NAMES[layer] ?? layer);
  const last = names.pop() ?? '';
  return `enforced by ${names.length > 0 ? `${names.join(', ')} and ${last}` : last}`;
}

type Judgement = readonly [status: LayerStatus, text: string];

function judgeFiles({ has, landlockAbi }: ActiveLayers): Judgement {
  if (landlockAbi === 0 && !has.broker)
    return has.mount
      ? ['partial', 'what is not hidden can be read: needs Landlock or the broker']
      : ['absent', 'reading and writing are open: needs Landlock, the broker or mount'];
  return ['enforced', enforcedBy(has, ['landlock', 'broker', 'mount'])];
}

function judgeDenies({ has }: ActiveLayers): Judgement {
  if (has.broker) return ['enforced', enforcedBy(has, ['broker', 'mount'])];
  return has.mount
    ? ['partial', 'masked by mount where the path exists at the start; all else needs the broker']
    : ['absent', 'needs the broker'];
}

function judgeLater({ has }: ActiveLayers): Judgement {
  return has.broker
    ? ['enforced', 'protected by the broker']
    : ['absent', 'not protected: needs the broker'];
}

function judgeConfig({ has }: ActiveLayers): Judgement {
  if (has.broker) return ['enforced', 'enforced by the broker, also where files do not exist yet'];
  return has.mount
    ? [
        'partial',
        'what exists is read-only but for git hooks and .git/config; what appears later is not',
      ]
    : ['absent', 'can be changed, also where it exists: needs the broker or mount'];
}

function judgeAttributes({ has }: ActiveLayers): Judgement {
  if (has.broker || has.mount) return ['enforced', enforcedBy(has, ['broker', 'mount'])];
  return has.seccomp
    ? ['enforced', 'refused everywhere, also where the policy allows writing']
    : ['absent', 'needs the broker, mount or seccomp'];
}

function judgeNetwork({ has, landlockAbi }: ActiveLayers): Judgement {
  if (has.net) return ['enforced', 'own loopback: yes; nothing else is reached'];
  if (has.seccomp)
    return ['enforced', 'own loopback: no; programs that listen or connect on it need net'];
  return landlockAbi >= 4
    ? [
        'partial',
        landlockAbi >= 10
          ? 'TCP and UDP are refused by Landlock; all else is open'
          : 'TCP is refused by Landlock; UDP and all else is open',
      ]
    : ['absent', 'the network is open: needs net or seccomp'];
}

function judgeNames(active: ActiveLayers): Judgement {
  const { has } = active;
  if (!has.net && canBroker(active))
    return ['partial', 'the broker connects to it; names are not looked up over UDP: needs net'];
  if (!has.net) return ['absent', 'nothing that net.allow names is reached: needs net'];
  if (!has.nft && !has.broker)
    return ['partial', 'programs that use the proxy variables reach it: needs nft or the broker'];
  return has.mount
    ? ['enforced', 'what net.allow names, and nothing else, is reached by every program']
    : ['partial', 'programs that look names up by themselves need mount'];
}

function judgeUnix({ has, landlockAbi }: ActiveLayers): Judgement {
  if (has.broker)
    return ['enforced', "each path is decided by the broker; abstract names are the run's own"];
  if (has.seccomp) return ['enforced', 'none but pairs: sockets by path need the broker'];
  if (landlockAbi >= 9)
    return ['partial', 'refused by Landlock, unless the policy names one; needs the broker'];
  return landlockAbi >= 6
    ? ['partial', 'sockets by path are open; abstract ones are refused by Landlock']
    : ['absent', 'open: needs the broker or seccomp'];
}

function judgeCalls({ has }: ActiveLayers): Judgement {
  return has.seccomp
    ? ['enforced', 'io_uring, ptrace, mount, bpf, keyrings and the rest are refused by seccomp']
    : ['absent', 'not restricted: needs seccomp'];
}

function judgeProcesses({ has, landlockAbi }: ActiveLayers): Judgement {
  if (has.pid) return ['enforced', 'those outside are not to be seen'];
  if (landlockAbi >= 6) return ['partial', 'those outside can be seen, not signalled'];
  return ['absent', 'those outside can be seen and signalled: needs pid'];
}

function judgeEnd({ has }: ActiveLayers): Judgement {
  if (has.pid) return ['enforced', 'the kernel ends the whole tree at once'];
  return has.broker
    ? ['enforced', 'the tree is ended by search, and cannot fork meanwhile']
    : ['partial', 'the tree is ended by search, and may fork meanwhile'];
}

function judgeTmp({ has, landlockAbi }: ActiveLayers): Judgement {
  if (has.mount) return ['enforced', '/tmp and /dev/shm themselves are private'];
  return landlockAbi > 0 || has.broker
    ? ['partial', "TMPDIR is private; the host's /tmp and /dev/shm are refused"]
    : ['absent', "TMPDIR is the run's own; the host's /tmp and /dev/shm are open"];
}

const TOPICS: readonly (readonly [topic: string, judge: (active: ActiveLayers) => Judgement])[] = [
  ['files outside', judgeFiles],
  ['deny inside allow', judgeDenies],
  ['files that appear later', judgeLater],
  ['configuration', judgeConfig],
  ['modes, owners, times', judgeAttributes],
  ['network', judgeNetwork],
  ['network by name', judgeNames],
  ['unix sockets', judgeUnix],
  ['system calls', judgeCalls],
  ['processes', judgeProcesses],
  ['end of the run', judgeEnd],
  ['private tmp', judgeTmp],
];

/** Any values do: what is asked is how well each limit is kept. */
const EVERY_LIMIT = {
  timeoutMs: 1000,
  cpuMs: 1000,
  memoryBytes: 1,
  pids: 1,
  diskBytes: 1,
  files: 1,
  openFiles: 1,
};

function explainMemory(host: HostFacts): string {
  return host.cgroup.memory === undefined
    ? `; ${host.cgroup.reason ?? 'no memory cgroup can be made'}`
    : '';
}

function judgeLimits(active: ActiveLayers, host: HostFacts): Meaning[] {
  const { reports } = planLimits({
    limits: EVERY_LIMIT,
    host,
    hasUserNamespace: active.has.user,
    hasBroker: active.has.broker,
    hasMountNamespace: active.has.mount,
    hasPidNamespace: active.has.pid,
    canUseCgroup: active.has.cgroup,
    canUseRlimits: active.has.rlimits,
  });
  const statuses = { hard: 'enforced', soft: 'partial', absent: 'absent' } as const;
  return reports.map(({ limit, strength, how }) => ({
    topic: `limit: ${limit}`,
    status: statuses[strength],
    text: `${strength}: ${how}${limit === 'memory' ? explainMemory(host) : ''}`,
    isLimit: true,
  }));
}

export function listMeanings(active: ActiveLayers, host: HostFacts): Meaning[] {
  const topics = TOPICS.map(([topic, judge]): Meaning => {
    const [status, text] = judge(active);
    return { topic, status, text, isLimit: false };
  });
  return [...topics, ...judgeLimits(active, host)];
}
