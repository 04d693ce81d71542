import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import { type CoverageData, EVENT_TYPES } from '../bundle/event-data.ts';
import type { SurfaceName } from './requirement.ts';

export interface SurfaceState {
  readonly status: 'complete' | 'partial' | 'absent';
  readonly reasons: readonly string[];
}

export type Surfaces = Readonly<Record<SurfaceName, SurfaceState>>;

const NAMES = ['reads', 'changes', 'programs', 'network', 'environment'] as const;

/** What each surface is called in the coding-agent pack of the older format. */
const PACK_NAMES: Readonly<Record<SurfaceName, string | undefined>> = {
  reads: 'files',
  changes: 'files',
  programs: 'commands',
  network: 'network',
  environment: undefined,
};

/** Collects what a bundle says was watched. */
export class SurfaceReader {
  #stated: Readonly<Record<string, { status: string; reasons: readonly string[] }>> = {};
  #pack: Readonly<Record<string, unknown>> = {};

  add({ type, data }: BundleEvent): void {
    if (type === EVENT_TYPES.coverage)
      this.#stated = ((data ?? {}) as Partial<CoverageData>).surfaces ?? {};
    if (type === EVENT_TYPES.codingAgent) {
      const { coverage } = (data ?? {}) as { readonly coverage?: unknown };
      if (typeof coverage === 'object' && coverage !== null)
        this.#pack = coverage as Record<string, unknown>;
    }
  }

  /** The older format binds neither producer nor coverage, and its `observed` does not mean that nothing was missed. */
  read({ sandbox }: Pick<BundleManifest, 'sandbox'>): Surfaces {
    const state = (name: SurfaceName): SurfaceState =>
      sandbox ? this.#readOurs(name, sandbox.coverage[name]) : this.#readOlder(name);
    return Object.fromEntries(NAMES.map((name) => [name, state(name)])) as Record<
      SurfaceName,
      SurfaceState
    >;
  }

  /** Complete only if both places say so. */
  #readOurs(name: SurfaceName, inManifest: string | undefined): SurfaceState {
    const { status = 'absent', reasons = [] } = this.#stated[name] ?? {};
    if (status === 'complete' && inManifest === 'complete' && reasons.length === 0)
      return { status, reasons: [] };
    return {
      status: inManifest === 'absent' || status === 'absent' ? 'absent' : 'partial',
      reasons,
    };
  }

  #readOlder(name: SurfaceName): SurfaceState {
    const inPack = PACK_NAMES[name];
    const claim = inPack === undefined ? undefined : this.#pack[inPack];
    if (claim === 'observed' || claim === 'partial' || claim === 'self_reported')
      return {
        status: 'partial',
        reasons: [`its producer says "${claim}", and nothing binds that it missed nothing`],
      };
    return { status: 'absent', reasons: ['the bundle does not say that this was watched'] };
  }
}
