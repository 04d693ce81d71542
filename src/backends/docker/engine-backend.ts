import { existsSync } from 'node:fs';
import { stewardPath } from '../../launch/helper-path.ts';
import type {
  BackendId,
  BackendReport,
  Guarantees,
  SandboxBackend,
  SweepReport,
} from '../backend.ts';
import { requireGuarantees, settleLimits } from '../requirements.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxLimits, SandboxSpec } from '../spec.ts';
import { BASE_ENVIRONMENT } from '../steward/environment.ts';
import { openSandbox } from '../steward/open-sandbox.ts';
import { type ContainerInput, makeContainerOptions } from './container-options.ts';
import type { Endpoints } from './endpoint.ts';
import { Engine, type EngineFacts } from './engine.ts';
import { EngineContainer } from './engine-container.ts';
import { NO_GUARANTEES } from './guarantees.ts';
import { readImageEnvironment } from './image-environment.ts';
import { listLanguages } from './image-languages.ts';
import { findProblems, type Problem } from './problems.ts';
import { findRuntimeImage } from './runtime-image.ts';
import { sweepEngine } from './sweep.ts';
import { withMapped } from './mapped-directory.ts';
import { planWorkspace, requireBoundLimits } from './workspace.ts';

/** What is special about containers of one kind. */
export interface EngineProfile {
  readonly id: BackendId;
  readonly describe: (facts: EngineFacts) => string;
  readonly makeGuarantees: (facts: EngineFacts) => Guarantees;
  /** Why this engine cannot make them, besides what holds for all. */
  readonly findProblems: (facts: EngineFacts) => Problem[];
  readonly isKernelShared: boolean;
  /** For programs, besides what the engine keeps them from. */
  readonly makeFilter?: (() => Uint8Array) | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly adjust: (
    limits: SandboxLimits,
  ) => Pick<ContainerInput, 'runtime' | 'isForgotten' | 'pidsLimit' | 'memoryOverheadBytes'>;
  readonly countGuestProcesses: (limits: SandboxLimits) => number | undefined;
}

export interface EngineBackendOptions {
  /** Instead of where engines usually listen. */
  readonly endpoints?: Endpoints | undefined;
}

/** Sandboxes in containers that Docker or Podman keeps. */
export class EngineBackend implements SandboxBackend {
  readonly id: BackendId;
  readonly #profile: EngineProfile;
  readonly #options: EngineBackendOptions;
  #engine: Promise<Engine> | undefined;

  constructor(profile: EngineProfile, options: EngineBackendOptions) {
    this.id = profile.id;
    this.#profile = profile;
    this.#options = options;
  }

  async probe(): Promise<BackendReport> {
    try {
      return this.#report(await this.#findEngine());
    } catch (error) {
      const { message, hint } = error as SandboxError;
      return {
        id: this.id,
        isAvailable: false,
        reasons: [message],
        hint,
        guarantees: NO_GUARANTEES,
        languages: {},
      };
    }
  }

  async create(
    spec: SandboxSpec,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Sandbox> {
    const engine = await this.#findEngine();
    const report = this.#report(engine);
    requireGuarantees(spec, report);
    const limits = settleLimits(spec, report.guarantees);
    requireBoundLimits(spec);
    const profile = this.#profile;
    const workspace = planWorkspace(spec, profile);
    const image = await this.#prepareImage(engine, spec);
    signal?.throwIfAborted();
    return await openSandbox({
      backend: this.id,
      spec,
      limits,
      coverage: report.guarantees.coverage,
      expected: {
        uid: workspace.user.uid,
        isKernelShared: profile.isKernelShared,
        diskBytes: limits.diskBytes,
        inodes: limits.inodes,
        hasOwnWorkspace: !workspace.bound,
        inode: profile.isKernelShared ? workspace.inode : undefined,
      },
      env: { ...BASE_ENVIRONMENT, ...profile.env, ...image.env },
      copied: workspace.copied,
      isWatched: workspace.mode === 'rw',
      guestProcesses: profile.countGuestProcesses(limits),
      filter: profile.makeFilter?.(),
      start: async ({ directory, onDoor }) =>
        await withMapped(workspace, async (bound) => {
          return await EngineContainer.start({
            engine,
            directory,
            limits,
            onDoor,
            options: makeContainerOptions({
              backend: this.id,
              image: image.name,
              limits,
              user: workspace.user,
              steward: stewardPath(),
              code: directory.code,
              workspace: bound,
              hasTmpfsOptions: engine.facts.hasTmpfsOptions,
              ...profile.adjust(limits),
            }),
          });
        }),
    });
  }

  async sweep(): Promise<SweepReport> {
    return await sweepEngine(this.id, async () => await this.#findEngine());
  }

  async #findEngine(): Promise<Engine> {
    this.#engine ??= Engine.find(this.#options.endpoints);
    try {
      return await this.#engine;
    } catch (error) {
      this.#engine = undefined; // it may be started later
      throw error;
    }
  }

  #report({ facts }: Engine): BackendReport {
    const image = findRuntimeImage();
    const own = {
      hasSteward: existsSync(stewardPath()),
      hasImage: image !== undefined,
    };
    const problems = [...findProblems(facts, own), ...this.#profile.findProblems(facts)];
    return {
      id: this.id,
      isAvailable: problems.length === 0,
      engine: this.#profile.describe(facts),
      reasons: problems.map(({ reason }) => reason),
      hint: problems[0]?.hint,
      guarantees: problems.length === 0 ? this.#profile.makeGuarantees(facts) : NO_GUARANTEES,
      languages: image ? listLanguages(image.rootfs) : {},
    };
  }

  async #prepareImage(
    engine: Engine,
    { image }: SandboxSpec,
  ): Promise<{ name: string; env: Readonly<Record<string, string>> }> {
    if (image !== undefined) return { name: image, env: await readImageEnvironment(engine, image) };
    const own = findRuntimeImage();
    if (!own)
      throw new SandboxError('image_unavailable', 'The image was not made', {
        hint: 'npm run engines',
      });
    await engine.ensureImage(own);
    return { name: own.id, env: {} };
  }
}
