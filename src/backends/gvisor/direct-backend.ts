import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stewardPath } from '../../launch/helper-path.ts';
import type { BackendReport, Guarantees, SandboxBackend, SweepReport } from '../backend.ts';
import { makeGuarantees, NO_GUARANTEES } from '../docker/guarantees.ts';
import { listLanguages } from '../docker/image-languages.ts';
import { planWorkspace, requireBoundLimits } from '../docker/workspace.ts';
import { requireGuarantees, settleLimits } from '../requirements.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxSpec } from '../spec.ts';
import { BASE_ENVIRONMENT } from '../steward/environment.ts';
import { openSandbox } from '../steward/open-sandbox.ts';
import { DIRECTORY_PREFIX, isLeftBehind, sweepDirectories } from '../steward/run-directory.ts';
import { makeBundleConfig } from './bundle.ts';
import { countGuestProcesses, GVISOR_ENVIRONMENT, withGvisor } from './gvisor-profile.ts';
import { findRunsc, type FoundRunsc, type Runsc } from './runsc.ts';
import { RunscContainer } from './runsc-container.ts';

const GROUPS = '/sys/fs/cgroup';

function makeDirectGuarantees({ isRoot }: Runsc): Guarantees {
  const facts = {
    hasCpuQuota: isRoot,
    hasMemoryLimit: isRoot,
    hasPidsLimit: isRoot,
    hasTmpfsOptions: true,
  };
  return { ...withGvisor(makeGuarantees(facts)), hasImages: false };
}

/** gVisor without an engine: for root, and for users who may make user namespaces. */
export class DirectGvisorBackend implements SandboxBackend {
  readonly id = 'gvisor';
  readonly #find: () => Promise<FoundRunsc>;
  #found: Promise<FoundRunsc> | undefined;

  constructor(find: () => Promise<FoundRunsc> = findRunsc) {
    this.#find = find;
  }

  async probe(): Promise<BackendReport> {
    this.#found ??= this.#find();
    const found = await this.#found;
    if ('problem' in found) this.#found = undefined; // it may be installed later
    const problem = findProblem(found);
    if ('problem' in found || problem)
      return {
        id: this.id,
        isAvailable: false,
        reasons: problem ? [problem.problem] : [],
        hint: problem?.hint,
        guarantees: NO_GUARANTEES,
        languages: {},
      };
    return {
      id: this.id,
      isAvailable: true,
      engine: `runsc ${found.version}`,
      reasons: found.isRoot
        ? []
        : ["memory and processors are not limited: that takes control groups, which are root's"],
      guarantees: makeDirectGuarantees(found),
      languages: listLanguages(found.rootfs),
    };
  }

  async create(
    spec: SandboxSpec,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Sandbox> {
    const report = await this.probe();
    requireGuarantees(spec, report);
    const runsc = (await this.#found) as Runsc;
    const limits = settleLimits(spec, report.guarantees);
    requireBoundLimits(spec);
    const planned = planWorkspace(spec, { isKernelShared: false });
    // Without root there is one user only, whom gVisor knows as its own root; files are made as the user's.
    const isOnlyUser = !runsc.isRoot && planned.bound !== undefined;
    const workspace = isOnlyUser ? { ...planned, user: { uid: 0, gid: 0 } } : planned;
    signal?.throwIfAborted();
    return await openSandbox({
      backend: this.id,
      spec,
      limits,
      coverage: report.guarantees.coverage,
      expected: {
        uid: workspace.user.uid,
        isKernelShared: false,
        diskBytes: limits.diskBytes,
        hasOwnWorkspace: !workspace.bound,
      },
      env: { ...BASE_ENVIRONMENT, ...GVISOR_ENVIRONMENT },
      copied: workspace.copied,
      isWatched: workspace.mode === 'rw',
      guestProcesses: countGuestProcesses(limits),
      start: async ({ directory, onDoor }) =>
        await RunscContainer.start({
          runsc,
          directory,
          onDoor,
          config: makeBundleConfig({
            rootfs: runsc.rootfs,
            steward: stewardPath(),
            code: directory.code,
            workspace,
            limits,
            group: runsc.isRoot ? basename(directory.path) : undefined,
          }),
        }),
    });
  }

  async sweep(): Promise<SweepReport> {
    const { removed, problems } = await sweepDirectories();
    return { removed: [...removed, ...sweepGroups()], problems };
  }
}

function findProblem(found: FoundRunsc): { problem: string; hint: string } | undefined {
  if ('problem' in found) return found;
  if (existsSync(stewardPath())) return undefined;
  return {
    problem: 'assay-steward was not built, since there is no static C library',
    hint: 'Install one (Fedora: glibc-static) and run npm run build',
  };
}

/** Control groups of sandboxes whose process is gone; one that is still in use stays. */
function sweepGroups(): string[] {
  if (!existsSync(GROUPS)) return [];
  const parents = [GROUPS, ...readdirSync(GROUPS).map((name) => join(GROUPS, name))];
  return parents.flatMap((parent) => {
    try {
      return readdirSync(parent)
        .filter((name) => name.startsWith(DIRECTORY_PREFIX) && isLeftBehind(name))
        .map((name) => join(parent, name))
        .filter((path) => {
          rmdirSync(path);
          return true;
        });
    } catch {
      return []; // no directory, or not ours to change
    }
  });
}
