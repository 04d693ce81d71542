import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { SandboxError } from '../sandbox-error.ts';
import { confine } from './confine.ts';
import type { Engine } from './engine.ts';
import { GuestLink } from './guest-link.ts';
import { nameMachine } from './machine-name.ts';

export type Accelerator = 'kvm' | 'tcg';

export interface MachineRequest {
  readonly engine: Engine;
  readonly accelerator: Accelerator;
  readonly memoryMib: number;
  /** The file to go on from; else the machine starts from nothing. */
  readonly snapshot?: string | undefined;
  /** For making a snapshot: a machine that can be told to write itself down. */
  readonly isForSnapshot?: boolean | undefined;
}

/** Bytes of what QEMU says about itself that are kept, for an error message. */
const MAX_SAID = 4000;
const SNAPSHOT_FD = 3;
const PORT_FD = 4;
const CONTROL_FD = 5;

/**
 * A processor of its own, which every program of the last fifteen years runs on. Emulated instructions beyond that cost
 * more than they save.
 */
const EMULATED = 'qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+smep,+smap,+rdrand';

/** Everything that decides what a snapshot is: one of a machine with other arguments cannot be gone on from. */
export function describeMachine(request: MachineRequest): string[] {
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
    // Without a frequency for a start, the kernel waits for ever for one under emulation.
    [
      '-append',
      `console=ttyS0 quiet loglevel=3 panic=-1${isEmulated ? ' tsc_early_khz=2600000' : ''}`,
    ],
    ['-serial', 'null'],
    ['-drive', `id=root,file=${root.replaceAll(',', ',,')},format=raw,if=none,readonly=on`],
    ['-device', 'virtio-blk-device,drive=root'],
    ['-device', 'virtio-serial-device', '-chardev', `socket,id=port,fd=${PORT_FD}`],
    ['-device', 'virtserialport,nr=1,chardev=port,name=assay'],
  ].flat();
}

async function listArguments(request: MachineRequest): Promise<string[]> {
  const args = [...describeMachine(request), '-name', await nameMachine()];
  if (request.snapshot) args.push('-incoming', `fd:${SNAPSHOT_FD}`);
  if (request.isForSnapshot)
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

/** One machine, of one sandbox, from its start to its end. */
export class Machine {
  readonly link: GuestLink;
  /** To QEMU itself; only of a machine that a snapshot is made of. */
  readonly control: Socket | undefined;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    const [, , , , port, control] = child.stdio as (Socket | null)[];
    this.link = new GuestLink(port as Socket);
    this.control = control ?? undefined;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(0, MAX_SAID);
    });
    this.#ended = this.#watch();
  }

  static async start(request: MachineRequest): Promise<Machine> {
    const { engine, snapshot, isForSnapshot = false } = request;
    let file: FileHandle | undefined;
    try {
      if (snapshot) file = await open(snapshot, 'r');
      const command = confine([engine.qemu, ...(await listArguments(request))], request);
      const child = spawn(command.file, command.args, {
        stdio: [
          'ignore',
          'ignore',
          'pipe',
          file?.fd ?? 'ignore',
          'pipe',
          isForSnapshot ? 'pipe' : 'ignore',
        ],
        // Nothing of ours is in its environment, and no signal of a terminal reaches it.
        env: {},
        cwd: '/',
        detached: true,
      });
      const machine = new Machine(child);
      await once(child, 'spawn');
      return machine;
    } catch (cause) {
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

  /** What QEMU has said, for a message. */
  get said(): string {
    return this.#said.trim();
  }

  /** Ends it at once, with everything in it. */
  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async #watch(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#child.once('error', () => resolve());
      this.#child.once('exit', () => resolve());
    });
    const also = this.said ? `: ${this.said}` : '';
    this.link.lose(new SandboxError('engine_failed', `The machine has ended${also}`));
    this.control?.destroy();
    this.#child.stderr?.destroy();
  }
}
