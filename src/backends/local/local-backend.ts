import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { HostFacts } from '../../host/facts.ts';
import { ImageDigests } from '../../launch/image-digests.ts';
import type { BackendReport, Guarantees, SandboxBackend, SweepReport } from '../backend.ts';
import { requireGuarantees, settleLimits } from '../requirements.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxLimits, SandboxSpec } from '../spec.ts';
import { Boundary } from './boundary.ts';
import { takeBaseline } from './changes.ts';
import { checkWorkspace, copyIn } from './copy-in.ts';
import { SandboxDoors } from './doors.ts';
import { type Trial, tryEngine } from './engine.ts';
import { LocalFiles } from './files.ts';
import { encodeSetUp } from './frames.ts';
import { Holder } from './holder.ts';
import { findLanguages } from './languages.ts';
import { stateLimits } from './limits.ts';
import { LocalSandbox } from './local-sandbox.ts';
import { toNetRules } from './policy.ts';
import { Resident } from './resident.ts';
import { Slots } from './slots.ts';
import { sweepLocal } from './sweep.ts';

const MAX_BOUNDARIES = 50;

const NOTHING_KEPT: Guarantees['limits'] = {
  wallMs: 'none',
  cpuMs: 'none',
  cpus: 'none',
  memoryBytes: 'none',
  pids: 'none',
  diskBytes: 'none',
  inodes: 'none',
  outputBytes: 'none',
  openFiles: 'none',
};

function stateGuarantees(trial: Trial): Guarantees {
  const isThere = trial.isAvailable;
  return {
    kernel: 'shared',
    files: 'separate-root',
    workspace: isThere ? ['ro', 'rw', 'copy'] : [],
    network: isThere ? 'names' : 'none',
    limits: isThere ? stateLimits(trial.host) : NOTHING_KEPT,
    coverage: isThere
      ? { files: 'complete', programs: 'complete', network: 'complete', environment: 'complete' }
      : { files: 'absent', programs: 'absent', network: 'absent', environment: 'absent' },
    hasImages: false,
    hasModuleList: false,
    hasEvalSwitch: false,
  };
}

function describeWeaknesses(trial: Trial): string[] {
  if (!trial.isAvailable) return [...trial.reasons];
  const { host } = trial;
  const reasons: string[] = [];
  if (host.landlockAbi === 0) reasons.push(`no Landlock: ${host.landlockReason ?? 'not there'}`);
  if (host.cgroup.memory === undefined)
    reasons.push(`memory is limited by looking (${host.cgroup.reason ?? 'no cgroup'})`);
  return reasons;
}

/** Sandboxes on the boundary of this project: namespaces, a private root, Landlock, seccomp and the broker. */
class LocalBackend implements SandboxBackend {
  readonly id = 'local';
  readonly #start: () => Promise<Trial>;
  readonly #digests = new ImageDigests();
  readonly #boundaries = new Map<string, Boundary>();
  readonly #name = randomBytes(6).toString('hex');
  #made = 0;
  #slots: { readonly resident: Resident; readonly slots: Slots } | undefined;
  /** Found out once; the helper stays for as long as this process. */
  #trial: Promise<Trial> | undefined;

  constructor(start: () => Promise<Trial>) {
    this.#start = start;
  }

  async probe(): Promise<BackendReport> {
    const trial = await this.#try();
    return this.#report(trial);
  }

  #report(trial: Trial): BackendReport {
    const { isAvailable } = trial;
    return {
      id: 'local',
      isAvailable,
      ...(trial.isAvailable && { engine: `Linux ${trial.host.kernel}` }),
      reasons: describeWeaknesses(trial),
      ...(!isAvailable && { hint: 'assay doctor says what this host lacks, and how to allow it' }),
      guarantees: stateGuarantees(trial),
      languages: isAvailable ? findLanguages() : {},
    };
  }

  async create(
    spec: SandboxSpec,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Sandbox> {
    signal?.throwIfAborted();
    const trial = await this.#try();
    const report = this.#report(trial);
    requireGuarantees(spec, report);
    requireHardDisk(spec);
    if (!trial.isAvailable) throw new Error('an engine that is not there was accepted');
    const limits = settleLimits(spec, report.guarantees);
    const own = settleWorkspace(spec);
    toNetRules(own.network);
    const resident = await this.#keepResident(trial);
    const boundary = await this.#planOnce(own, limits, trial.host);
    return await this.#build({ trial, resident, spec: own, limits, boundary });
  }

  /** Most sandboxes are asked for in the same few ways. */
  async #planOnce(spec: SandboxSpec, limits: SandboxLimits, host: HostFacts): Promise<Boundary> {
    const key = JSON.stringify([spec, limits]);
    const found = this.#boundaries.get(key) ?? (await Boundary.make(spec, limits, host));
    if (this.#boundaries.size >= MAX_BOUNDARIES) this.#boundaries.clear();
    this.#boundaries.set(key, found);
    return found;
  }

  async sweep(): Promise<SweepReport> {
    return await sweepLocal(process.getuid?.() ?? 0);
  }

  async #try(): Promise<Trial> {
    this.#trial ??= this.#start();
    return await this.#trial;
  }

  /** One that was killed is started again. */
  async #keepResident(trial: Trial & { readonly isAvailable: true }): Promise<Resident> {
    if (trial.resident.isAlive) return trial.resident;
    const { host } = trial;
    const again = Resident.start(host).then(
      (resident) => ({ isAvailable: true, host, resident }) as const,
    );
    this.#trial = again;
    return (await again).resident;
  }

  #useSlots(resident: Resident, host: HostFacts): Slots {
    if (this.#slots?.resident !== resident)
      this.#slots = { resident, slots: new Slots(resident, host) };
    return this.#slots.slots;
  }

  async #build(input: BuildInput): Promise<Sandbox> {
    const { trial, resident, spec, limits, boundary } = input;
    const { host } = trial;
    const slots = this.#useSlots(resident, host);
    const slot = await slots.take(limits);
    const release = (): void => {
      if (slot) slots.release(slot);
    };
    let holder: Holder | undefined;
    try {
      const doors = boundary.plan.doors ? new SandboxDoors(resident.doors) : undefined;
      holder = new Holder(await resident.connect({ forker: slot?.number, doors: doors?.number }));
      const files = new LocalFiles(holder);
      await holder.setUp(encodeSetUp(toSetUp(spec, limits)), boundary.bytes);
      if (spec.workspace?.mode === 'copy') await copyIn(spec.workspace.host, files);
      const baseline = spec.workspace ? await takeBaseline(files) : new Map<string, string>();
      this.#made += 1;
      return new LocalSandbox({
        id: `${this.#name}-${this.#made}`,
        spec,
        limits,
        host,
        holder,
        files,
        boundary,
        slot,
        release,
        baseline,
        doors,
        digests: this.#digests,
      });
    } catch (error) {
      await holder?.close();
      release();
      throw error;
    }
  }
}

interface BuildInput {
  readonly trial: Trial & { readonly isAvailable: true };
  readonly resident: Resident;
  readonly spec: SandboxSpec;
  readonly limits: ReturnType<typeof settleLimits>;
  readonly boundary: Boundary;
}

/** The host's own disk has no size that could be given to a directory of it. */
function requireHardDisk({ workspace, limits, require }: SandboxSpec): void {
  if (workspace?.mode !== 'rw' || limits?.diskBytes === undefined || !require?.hardLimits) return;
  const reason = 'only soft in a workspace of the host, and hard limits are required';
  throw new SandboxError('policy_unenforceable', `limits.diskBytes: ${reason}`, {
    unmet: [{ item: 'limits.diskBytes', reason }],
  });
}

/** With every link in the name of the host's directory resolved, so that nothing can be put in the place of one. */
function settleWorkspace(spec: SandboxSpec): SandboxSpec {
  if (!spec.workspace) return spec;
  checkWorkspace(spec.workspace.host);
  return {
    ...spec,
    workspace: { ...spec.workspace, host: realpathSync.native(spec.workspace.host) },
  };
}

function toSetUp({ workspace }: SandboxSpec, limits: BuildInput['limits']) {
  const bytes = limits.diskBytes ?? 0;
  // What is already there, the directory itself, counts as one.
  const inodes = limits.inodes === undefined ? 0 : limits.inodes + 1;
  const isHost = workspace !== undefined && workspace.mode !== 'copy';
  return {
    workspace: {
      kind: isHost ? workspace.mode : 'own',
      host: isHost ? workspace.host : '',
    } as { kind: 'own' | 'ro' | 'rw'; host: string },
    workBytes: bytes,
    workInodes: inodes,
    tmpBytes: bytes,
    tmpInodes: inodes,
  };
}

export function createLocalBackend(
  options: { readonly start?: () => Promise<Trial> } = {},
): SandboxBackend {
  return new LocalBackend(options.start ?? tryEngine);
}
