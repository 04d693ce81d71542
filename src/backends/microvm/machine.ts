import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { nameOwner } from '../owner.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Confinement } from '../confinement.ts';
import { limitMemory } from './confinement.ts';
import type { Engine } from './engine.ts';
import { GuestLink } from './guest-link.ts';

export type Accelerator = 'kvm' | 'tcg';

export interface MachineRequest {
  readonly engine: Engine;
  readonly accelerator: Accelerator;
  readonly memoryMib: number;
  /** The file to go on from; else the machine starts from nothing. */
  readonly snapshot?: string | undefined;
  /** None for making a snapshot: a machine that can be told to write itself down, and that runs nobody's code. */
  readonly confinement: Confinement | undefined;
}

/** In the command line of every machine, before whose it is. */
export const MACHINE_NAME = 'assay-microvm:';
/** Bytes of what QEMU says about itself that are kept, for an error message. */
const MAX_SAID = 4000;
/** What the helper passes on, whose own plan is at 3. */
const SNAPSHOT_FD = 0;
const PORT_FD = 1;
const CONTROL_FD = 3;

/**
 * A processor of its own, which every program of the last fifteen years runs on. Emulated instructions beyond that cost
 * more than they save.
 */
const EMULATED = 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+smep,+smap,+rdrand';

/**
 * An emulated guest has the counter of the host and nothing to compare it with: left alone it waits for ever for a clock
 * that tells it how fast that counts, and then distrusts it when the host is busy.
 */
function describeClock({ guest }: Engine): string {
  return ` tsc_early_khz=${guest.tscKhz} tsc=reliable`;
}

/** Everything that decides what a snapshot is: one of a machine with other arguments cannot be gone on from. */
export function describeMachine(
  request: Pick<MachineRequest, 'engine' | 'accelerator' | 'memoryMib'>,
): string[] {
  const { engine, accelerator, memoryMib } = request;
  const isEmulated = accelerator === 'tcg';
  const { vmlinux, initrd, root } = engine.guest;
  return [
    ['-M', 'microvm,acpi=on,pit=on,pic=on,rtc=on,isa-serial=on,x-option-roms=off'],
    ['-accel', isEmulated ? 'tcg,thread=single,tb-size=256' : 'kvm'],
    ['-cpu', isEmulated ? EMULATED : 'host'],
    ['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ['-m', `${memoryMib}`, '-smp', '1'],
    ['-kernel', vmlinux, '-initrd', initrd],
    [
      '-append',
      `console=ttyS0 quiet loglevel=3 panic=-1${isEmulated ? describeClock(engine) : ''}`,
    ],
    ['-serial', 'null'],
    ['-drive', `id=root,file=${root.replaceAll(',', ',,')},format=raw,if=none,readonly=on`],
    ['-device', 'virtio-blk-device,drive=root'],
    ['-device', 'virtio-serial-device', '-chardev', `socket,id=port,fd=${PORT_FD}`],
    ['-device', 'virtserialport,nr=1,chardev=port,name=assay'],
  ].flat();
}

function listArguments(request: MachineRequest): string[] {
  // Whoever finds it knows by its name whether anybody still uses it.
  const args = [...describeMachine(request), '-name', `${MACHINE_NAME}${nameOwner()}`];
  if (request.snapshot) args.push('-incoming', `fd:${SNAPSHOT_FD}`);
  if (!request.confinement)
    args.push(
      '-chardev',
      `socket,id=control,fd=${CONTROL_FD}`,
      '-mon',
      'chardev=control,mode=control',
    );
  // Writing a snapshot down starts a program; no machine that runs anybody's code does.
  else
    args.push(
      '-sandbox',
      'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
    );
  return args;
}

/** Nothing of ours is in its environment, and no signal of a terminal reaches it. */
const APART = { env: {}, cwd: '/', detached: true } as const;

interface Started {
  readonly child: ChildProcess;
  /** Why it did not come to run at all, where the helper knows. */
  readonly explain: () => string;
  readonly forget: () => void;
}

async function spawnMachine(
  request: MachineRequest,
  snapshot: number | 'ignore',
): Promise<Started> {
  const argv = [request.engine.qemu, ...listArguments(request)];
  const { confinement, memoryMib } = request;
  if (!confinement) {
    const args = ['--no-new-privs', '--pdeathsig', 'KILL', ...argv];
    const stdio: StdioOptions = [snapshot, 'pipe', 'pipe', 'pipe'];
    const child = spawn('/usr/bin/setpriv', args, { ...APART, stdio });
    return { child, explain: () => '', forget: () => undefined };
  }
  const { file, identity, plan } = await confinement.prepare(argv, limitMemory(memoryMib));
  const stdio: StdioOptions = [snapshot, 'pipe', 'pipe', plan.fd];
  const child = spawn(file, [], { ...APART, ...identity, stdio });
  return { child, explain: () => plan.explain(), forget: () => plan.close() };
}

/** One machine, of one sandbox, from its start to its end. */
export class Machine {
  readonly link: GuestLink;
  /** To QEMU itself; only of a machine that a snapshot is made of. */
  readonly control: Socket | undefined;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #said = '';

  private constructor(started: Started) {
    const { child } = started;
    this.#child = child;
    const [, port, , control] = child.stdio as (Socket | null)[];
    this.control = control ?? undefined;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(0, MAX_SAID);
    });
    this.#ended = this.#watch(started);
    this.link = new GuestLink(port as Socket, () => this.#ended);
  }

  static async start(request: MachineRequest): Promise<Machine> {
    const { engine, snapshot } = request;
    let file: FileHandle | undefined;
    try {
      if (snapshot) file = await open(snapshot, 'r');
      const started = await spawnMachine(request, file?.fd ?? 'ignore');
      const machine = new Machine(started);
      await once(started.child, 'spawn');
      return machine;
    } catch (cause) {
      if (SandboxError.is(cause)) throw cause;
      throw new SandboxError('start_failed', `Cannot start ${engine.qemu}: ${String(cause)}`, {
        cause,
      });
    } finally {
      await file?.close();
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Ends it at once, with everything in it. */
  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Resolves with why, as far as anybody has said. */
  async #watch({ child, explain, forget }: Started): Promise<string> {
    await new Promise<void>((resolve) => {
      child.once('error', () => resolve());
      child.once('exit', () => resolve());
    });
    this.control?.destroy();
    // QEMU has the other end of it, and may be a moment behind the helper.
    if (child.stderr && !child.stderr.closed) await once(child.stderr, 'close');
    const why = [explain(), this.#said.trim()].filter(Boolean).join(': ');
    forget();
    this.link.lose(
      new SandboxError('engine_failed', `The machine has ended${why ? `: ${why}` : ''}`),
    );
    return why;
  }
}
