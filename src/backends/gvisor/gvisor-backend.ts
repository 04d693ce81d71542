import type { BackendReport, SandboxBackend, SweepReport } from '../backend.ts';
import { EngineBackend, type EngineBackendOptions } from '../docker/engine-backend.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxSpec } from '../spec.ts';
import { DirectGvisorBackend } from './direct-backend.ts';
import { GVISOR_CONTAINERS } from './gvisor-profile.ts';
import type { FoundRunsc } from './runsc.ts';

export interface GvisorBackendOptions extends EngineBackendOptions {
  /** By an engine that has it as a runtime, or without one. The better of the two here, unless given. */
  readonly way?: 'engine' | 'direct' | undefined;
  readonly findRunsc?: (() => Promise<FoundRunsc>) | undefined;
}

/** gVisor: programs talk to a kernel that is a program itself. */
export function createGvisorBackend(options: GvisorBackendOptions = {}): SandboxBackend {
  const { way, findRunsc } = options;
  const engine = new EngineBackend(GVISOR_CONTAINERS, options);
  const direct = new DirectGvisorBackend(findRunsc);
  if (way !== undefined) return way === 'engine' ? engine : direct;
  // Root keeps limits without an engine, and starts faster; others do not.
  return new GvisorBackend(process.getuid?.() === 0 ? [direct, engine] : [engine, direct]);
}

class GvisorBackend implements SandboxBackend {
  readonly id = 'gvisor';
  readonly #ways: readonly SandboxBackend[];

  constructor(ways: readonly SandboxBackend[]) {
    this.#ways = ways;
  }

  async probe(): Promise<BackendReport> {
    return (await this.#choose({})).report;
  }

  async create(
    spec: SandboxSpec,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Sandbox> {
    return await (await this.#choose(spec)).way.create(spec, options);
  }

  async sweep(): Promise<SweepReport> {
    const reports = await Promise.all(this.#ways.map(async (way) => await way.sweep()));
    return {
      removed: reports.flatMap(({ removed }) => removed),
      problems: reports.flatMap(({ problems }) => problems),
    };
  }

  /** The first way that is there, or the one that has images where one is asked for. */
  async #choose({ image }: SandboxSpec): Promise<{ way: SandboxBackend; report: BackendReport }> {
    const found: { way: SandboxBackend; report: BackendReport }[] = [];
    for (const way of this.#ways) {
      const report = await way.probe();
      if (report.isAvailable && (image === undefined || report.guarantees.hasImages))
        return { way, report };
      found.push({ way, report });
    }
    const available = found.find(({ report }) => report.isAvailable);
    if (available) return available;
    const [first] = found;
    if (!first) throw new Error('there is no way at all');
    const reasons = found.flatMap(({ report }) => report.reasons);
    return { way: first.way, report: { ...first.report, reasons } };
  }
}
