import type { HostFacts, Namespace } from '../host/facts.ts';
import { describeMissing } from './landlock.ts';
import { type Layer, type LayerReport, LAYERS } from './plan.ts';

/** What `--layers` asks for. */
export interface LayerChoice {
  readonly left: ReadonlySet<Layer>;
  /** Use Landlock as a kernel of this age would; null for all of it. */
  readonly landlockAbi: number | null;
}

export const ALL_LAYERS: LayerChoice = { left: new Set(LAYERS), landlockAbi: null };

export interface ActiveLayers {
  readonly has: Readonly<Record<Layer, boolean>>;
  readonly landlockAbi: number;
  readonly isAbiExact: boolean;
  /** Else the broker puts sockets of its own in the place of a program's. */
  readonly canCopyDescriptors: boolean;
  readonly reports: readonly LayerReport[];
}

const LEFT_OUT = 'left out by --layers';

function whyAbsent(layer: Layer, host: HostFacts): string | null {
  switch (layer) {
    case 'landlock':
      return host.landlockAbi > 0 ? null : (host.landlockReason ?? 'the kernel has no Landlock');
    case 'seccomp':
      return host.seccomp.isAvailable ? null : host.seccomp.reason;
    case 'broker':
      return host.notify.isAvailable ? null : host.notify.reason;
    case 'nft':
      return host.nft.isAvailable ? null : host.nft.reason;
    case 'cgroup':
      return host.cgroup.version > 0 ? null : (host.cgroup.reason ?? 'no cgroup can be made');
    case 'rlimits':
      return null;
    default: {
      const found = host.namespaces[layer as Namespace];
      return found.isAvailable ? null : found.reason;
    }
  }
}

/** What a layer stands on. */
function whyUnsupported(
  layer: Layer,
  has: Readonly<Partial<Record<Layer, boolean>>>,
  host: HostFacts,
): string | null {
  const isRoot = host.uid === 0;
  if (layer === 'broker' && !has.seccomp) return 'needs seccomp';
  if ((layer === 'mount' || layer === 'ipc' || layer === 'net') && !has.user && !isRoot)
    return 'needs a user namespace';
  if (layer === 'nft' && !has.net) return 'needs a network namespace';
  // Its own /proc has to be mounted, or it would show the processes outside.
  if (layer === 'pid' && !has.mount) return 'needs a mount namespace';
  return null;
}

/** What a layer that is there cannot do. */
function describeLack(layer: Layer, landlockAbi: number, { descriptors }: HostFacts): string {
  if (layer === 'landlock') return describeMissing(landlockAbi);
  if (layer !== 'broker' || descriptors.isAvailable) return '';
  return `sockets lose the options that were set before they connect or bind: ${descriptors.reason}`;
}

/** Which layers there are for this run, and what the banner says about each. */
export function chooseLayers(host: HostFacts, choice: LayerChoice): ActiveLayers {
  const has: Partial<Record<Layer, boolean>> = {};
  const reports: LayerReport[] = [];
  const landlockAbi = Math.min(host.landlockAbi, choice.landlockAbi ?? Number.MAX_SAFE_INTEGER);
  for (const layer of LAYERS) {
    const reason = choice.left.has(layer)
      ? (whyUnsupported(layer, has, host) ?? whyAbsent(layer, host))
      : LEFT_OUT;
    has[layer] = reason === null;
    const missing = reason === null ? describeLack(layer, landlockAbi, host) : '';
    reports.push({
      layer,
      status: reason !== null ? 'absent' : missing ? 'partial' : 'enforced',
      reason: reason ?? missing,
    });
  }
  return {
    has: has as Record<Layer, boolean>,
    landlockAbi: has.landlock ? landlockAbi : 0,
    isAbiExact: choice.landlockAbi === null && has.landlock === true,
    canCopyDescriptors: host.descriptors.isAvailable,
    reports,
  };
}
