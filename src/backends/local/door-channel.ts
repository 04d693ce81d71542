import { randomBytes } from 'node:crypto';
import type { ServeDoors } from '../../egress/doors.ts';
import type { DoorHandle } from '../../launch/door-channel.ts';
import { DoorKeeper, expectDoors } from '../../launch/door-keeper.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { SandboxError } from '../sandbox-error.ts';

/** The handles below node's own modules. Not documented, so every step of using them may fail. */
interface PipeHandle {
  pendingHandle: DoorHandle | null;
  onread: (bytes?: ArrayBuffer) => void;
  connect(request: object, path: string): number;
  writeBuffer(request: object, data: Uint8Array): number;
  readStart(): void;
  close(): void;
  ref(): void;
  unref(): void;
}

interface Bindings {
  readonly makePipe: () => PipeHandle;
  readonly makeConnect: () => { oncomplete?: (status: number) => void };
  readonly makeWrite: () => { oncomplete?: (status: number) => void };
  /** How much the last read brought, and from where on. */
  readonly lastRead: () => { readonly length: number; readonly offset: number };
}

type Binding = Record<string, unknown>;

export function findBindings(): Bindings | undefined {
  try {
    const { binding } = process as unknown as { binding: (name: string) => Binding };
    const pipe = binding.call(process, 'pipe_wrap');
    const stream = binding.call(process, 'stream_wrap');
    // The kinds of sockets that may come have to be known before the first one does.
    for (const kind of ['tcp_wrap', 'udp_wrap']) binding.call(process, kind);
    const Pipe = pipe['Pipe'] as new (kind: number) => PipeHandle;
    const Connect = pipe['PipeConnectWrap'] as new () => object;
    const Write = stream['WriteWrap'] as new () => object;
    const { IPC } = pipe['constants'] as { IPC: number };
    const state = stream['streamBaseState'] as ArrayLike<number>;
    const length = stream['kReadBytesOrError'] as number;
    const offset = stream['kArrayBufferOffset'] as number;
    const all: unknown[] = [Pipe, Connect, Write, IPC, state, length, offset];
    if (all.includes(undefined)) return undefined;
    return {
      makePipe: () => new Pipe(IPC),
      makeConnect: () => new Connect(),
      makeWrite: () => new Write(),
      lastRead: () => ({ length: state[length] ?? 0, offset: state[offset] ?? 0 }),
    };
  } catch {
    return undefined; // taken out of this version of node
  }
}

/** The channel by which the doors of one sandbox come, each with the number of its call. */
export class DoorChannel {
  readonly token = randomBytes(8);
  readonly #pipe: PipeHandle;
  readonly #keepers = new Map<number, DoorKeeper>();

  private constructor(pipe: PipeHandle) {
    this.#pipe = pipe;
  }

  static async open(path: string): Promise<DoorChannel> {
    const bindings = findBindings();
    if (!bindings)
      throw new SandboxError(
        'start_failed',
        'This version of node cannot take doors to the network',
      );
    const pipe = bindings.makePipe();
    const channel = new DoorChannel(pipe);
    const request = bindings.makeConnect();
    await settle(request, () => pipe.connect(request, path));
    const write = bindings.makeWrite();
    // So few bytes are taken at once; then nobody calls back.
    const problem = pipe.writeBuffer(write, channel.token);
    if (problem !== 0) throw describeProblem(problem);
    pipe.pendingHandle = null;
    pipe.onread = (bytes) => {
      const handle = pipe.pendingHandle;
      pipe.pendingHandle = null;
      if (!bytes || !handle) return;
      const { length, offset } = bindings.lastRead();
      channel.#take(Buffer.from(bytes, offset, length).toString('latin1'), handle);
    };
    pipe.readStart();
    pipe.unref();
    return channel;
  }

  /** Before the call is started. */
  expect(call: number, plan: Plan, load: () => Promise<ServeDoors>): DoorKeeper {
    const launch = { ...plan.launch, banner: '', cgroups: [] };
    const keeper = new DoorKeeper({ expected: expectDoors(launch), load });
    this.#keepers.set(call, keeper);
    return keeper;
  }

  async end(call: number): Promise<void> {
    const keeper = this.#keepers.get(call);
    this.#keepers.delete(call);
    await keeper?.close();
  }

  close(): void {
    this.#pipe.close();
  }

  #take(text: string, handle: DoorHandle): void {
    const { door = '', call = 0 } = readMessage(text);
    const keeper = this.#keepers.get(call);
    if (keeper) keeper.take(door, handle);
    else handle.close(); // of a call that is over
  }
}

function readMessage(text: string): { readonly door?: string; readonly call?: number } {
  try {
    return (JSON.parse(text) as { msg?: { door?: string; call?: number } }).msg ?? {};
  } catch {
    return {};
  }
}

async function settle(
  request: { oncomplete?: (status: number) => void },
  start: () => number,
): Promise<void> {
  const status = await new Promise<number>((resolve) => {
    request.oncomplete = resolve;
    const error = start();
    if (error) resolve(error);
  });
  if (status !== 0) throw describeProblem(status);
}

function describeProblem(status: number): SandboxError {
  return new SandboxError('start_failed', `Cannot open the channel for doors: error ${-status}`);
}
