import { totalmem } from 'node:os';
import type { BackendReport, SandboxBackend, SweepReport } from '../backend.ts';
import { requireGuarantees, settleLimits } from '../requirements.ts';
import type { Sandbox } from '../sandbox.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxSpec } from '../spec.ts';
import { type AcceleratorChoice, chooseAccelerator } from './accelerator.ts';
import type { Confinement } from '../confinement.ts';
import { confineQemu } from './confinement.ts';
import { readHostTree } from './copy-in.ts';
import { EgressDoor } from './egress-door.ts';
import { type Engine, findEngine, isCurrent } from './engine.ts';
import { listLanguages, MICROVM_GUARANTEES } from './guarantees.ts';
import { Machine } from './machine.ts';
import { MicrovmSandbox } from './microvm-sandbox.ts';
import { awaitHello, provideSnapshot, type Snapshot } from './snapshot.ts';
import { sweepMachines } from './sweep.ts';

const MIB = 1024 * 1024;
/** For the guest's kernel, its agent and what it keeps of the root. */
const OWN_MIB = 176;
/** Few sizes, so that few snapshots are needed. */
const SIZES_MIB = [1024, 2048, 4096, 8192, 16_384, 32_768];
const [USUAL_MIB = 1024] = SIZES_MIB;

const HINT =
  process.arch === 'x64'
    ? 'npm run engines installs QEMU and builds the guest (Debian or Ubuntu)'
    : 'Use the backend docker or gvisor, which npm run engines installs here, too';

export interface MicrovmOptions {
  /** For tests: where PATH and the directory of the engines are looked up. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** What has been found out, and holds as long as the engine is the same. */
interface Known {
  readonly engine: Engine;
  readonly choice: AcceleratorChoice;
  readonly confinement: Confinement;
  readonly snapshots: Map<number, Promise<Snapshot>>;
}

function chooseSize(spec: { memoryBytes: number; diskBytes: number; copiedBytes: number }): number {
  const wanted = (spec.memoryBytes + spec.diskBytes + spec.copiedBytes) / MIB + OWN_MIB;
  const size = SIZES_MIB.find((mib) => mib >= wanted);
  if (size === undefined || size * MIB > totalmem())
    throw new SandboxError(
      'limit_invalid',
      `A machine of ${Math.ceil(wanted)} MiB does not fit into this one`,
      { hint: 'Ask for less memory, less disk or a smaller workspace' },
    );
  return size;
}

class MicrovmBackend implements SandboxBackend {
  readonly id = 'microvm';
  readonly #env: NodeJS.ProcessEnv;
  #known: Promise<Known | readonly string[]> | undefined;

  constructor({ env = process.env }: MicrovmOptions) {
    this.#env = env;
  }

  async probe(): Promise<BackendReport> {
    try {
      return await this.#report();
    } catch (error) {
      return this.#unavailable([(error as Error).message]);
    }
  }

  async create(
    spec: SandboxSpec,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Sandbox> {
    const report = await this.probe();
    requireGuarantees(spec, report);
    const limits = settleLimits(spec, report.guarantees);
    const { engine, choice, confinement } = await this.#find();
    const tree = spec.workspace ? await readHostTree(spec.workspace.host) : undefined;
    const memoryMib = chooseSize({
      memoryBytes: limits.memoryBytes ?? 0,
      diskBytes: limits.diskBytes ?? 0,
      copiedBytes: tree?.bytes ?? 0,
    });
    const door = await EgressDoor.open(spec.network);
    try {
      const { path } = await this.#provide(memoryMib);
      options.signal?.throwIfAborted();
      const machine = await Machine.start({
        engine,
        accelerator: choice.accelerator,
        memoryMib,
        snapshot: path,
        confinement,
      });
      const abort = (): void => void machine.close();
      options.signal?.addEventListener('abort', abort);
      try {
        if (path === undefined) await awaitHello(machine);
        return await MicrovmSandbox.open({ spec, limits, machine, tree, door });
      } catch (error) {
        await machine.close();
        throw error;
      } finally {
        options.signal?.removeEventListener('abort', abort);
      }
    } catch (error) {
      await door?.close();
      throw error;
    }
  }

  async sweep(): Promise<SweepReport> {
    return await sweepMachines(this.#env);
  }

  async #report(): Promise<BackendReport> {
    const known = await this.#learn();
    if (!('engine' in known)) return this.#unavailable(known);
    const { engine, choice, confinement } = known;
    const { path, hello } = await this.#provide(USUAL_MIB);
    const reasons = [
      ...(choice.reason
        ? [`emulated, so code runs some fifteen times slower: ${choice.reason}`]
        : []),
      ...confinement.gaps,
      ...(path ? [] : ['no snapshot can be kept, so every machine starts from nothing']),
    ];
    return {
      id: this.id,
      isAvailable: true,
      engine: `QEMU ${engine.version}, ${choice.accelerator}, ${engine.guest.kernel}`,
      reasons,
      guarantees: MICROVM_GUARANTEES,
      languages: listLanguages(hello.versions),
    };
  }

  #unavailable(reasons: readonly string[]): BackendReport {
    const guarantees = MICROVM_GUARANTEES;
    return { id: this.id, isAvailable: false, reasons, hint: HINT, guarantees, languages: {} };
  }

  /** What is missing is looked for again the next time; what is there only when it was built anew. */
  async #learn(): Promise<Known | readonly string[]> {
    const before = await this.#known?.catch(() => undefined);
    const isGood = before && 'engine' in before && (await isCurrent(before.engine));
    if (before && !isGood) this.#known = undefined;
    this.#known ??= this.#look();
    return await this.#known;
  }

  async #look(): Promise<Known | readonly string[]> {
    const found = await findEngine({ env: this.#env });
    if (!found.engine) return found.missing;
    const choice = await chooseAccelerator(found.engine);
    const confinement = await confineQemu(found.engine, choice.accelerator === 'kvm');
    return { engine: found.engine, choice, confinement, snapshots: new Map() };
  }

  async #find(): Promise<Known> {
    const known = await this.#learn();
    if ('engine' in known) return known;
    throw new SandboxError('backend_unavailable', known.join('; '), { hint: HINT });
  }

  async #provide(memoryMib: number): Promise<Snapshot> {
    const { engine, choice, snapshots } = await this.#find();
    const { accelerator } = choice;
    const made = snapshots.get(memoryMib) ?? provideSnapshot({ engine, accelerator, memoryMib });
    snapshots.set(memoryMib, made);
    try {
      return await made;
    } catch (error) {
      snapshots.delete(memoryMib);
      throw error;
    }
  }
}

export function createMicrovmBackend(options: MicrovmOptions = {}): SandboxBackend {
  return new MicrovmBackend(options);
}
