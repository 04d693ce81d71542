import { spawnDirectly, type SpawnedHelper, type SpawnRequest, toSpawned } from './spawn-helper.ts';

/** A socket as node holds it inside, below its documented modules. */
export interface DoorHandle {
  close(): void;
  listen?(backlog: number): number;
  onconnection?: (this: DoorHandle, status: number, client?: DoorHandle) => void;
  recvStart?(): number;
  onmessage?: (this: DoorHandle, ...message: never[]) => void;
}

export type TakeDoor = (name: string, handle: DoorHandle) => void;

/** A line of the channel: `{"cmd":"NODE_HANDLE","type":"net.Native","msg":{"door":"proxy"}}`. */
interface ChannelMessage {
  readonly msg?: { readonly door?: string };
}

/** The handles below node's own modules. Not documented, so every step of using them may fail. */
export interface PipeHandle {
  readonly fd: number;
  pendingHandle: DoorHandle | null;
  onread: (bytes?: ArrayBuffer) => void;
  readStart(): void;
  close(): void;
}

interface Bindings {
  readonly Pipe: new (kind: number) => PipeHandle;
  readonly ipc: number;
  readonly state: ArrayLike<number>;
  readonly readBytes: number;
  readonly offset: number;
}

function findPipe(): Bindings | undefined {
  try {
    const { binding } = process as unknown as { binding: (name: string) => never };
    const pipe = binding.call(process, 'pipe_wrap') as {
      Pipe: Bindings['Pipe'];
      constants: { IPC: number };
    };
    const stream = binding.call(process, 'stream_wrap') as {
      streamBaseState: ArrayLike<number>;
      kReadBytesOrError: number;
      kArrayBufferOffset: number;
    };
    // The kinds of sockets that may come have to be known before the first one does.
    for (const kind of ['tcp_wrap', 'udp_wrap']) binding.call(process, kind);
    const found = {
      Pipe: pipe.Pipe,
      ipc: pipe.constants.IPC,
      state: stream.streamBaseState,
      readBytes: stream.kReadBytesOrError,
      offset: stream.kArrayBufferOffset,
    };
    const isWhole = Object.values(found).every((value) => value !== undefined);
    return isWhole ? found : undefined;
  } catch {
    return undefined; // taken out of this version of node
  }
}

/** Starts the helper with a channel on descriptor 4, by which the doors come, each with its name. */
export function spawnWithDoors(request: SpawnRequest, take: TakeDoor): SpawnedHelper {
  const bindings = findPipe();
  const direct = bindings && spawnWithPipe(request, bindings, take);
  return direct ?? spawnAsDocumented(request, take);
}

/** Takes the doors that come by a channel which is open already; false where this version of node has no way to. */
export function takeDoorsFrom(pipe: PipeHandle, take: TakeDoor): boolean {
  const bindings = findPipe();
  if (bindings) hearDoors(pipe, bindings, take);
  return bindings !== undefined;
}

function hearDoors(pipe: PipeHandle, { state, readBytes, offset }: Bindings, take: TakeDoor): void {
  const { onread } = pipe;
  pipe.pendingHandle = null;
  pipe.onread = (bytes) => {
    const handle = pipe.pendingHandle;
    pipe.pendingHandle = null;
    // A message that carries a socket is never read together with another.
    if (handle && bytes)
      take(
        readDoor(Buffer.from(bytes, state[offset], state[readBytes]).toString('latin1')),
        handle,
      );
    else onread?.(bytes);
  };
}

function spawnWithPipe(
  request: SpawnRequest,
  bindings: Bindings,
  take: TakeDoor,
): SpawnedHelper | undefined {
  const pipe = new bindings.Pipe(bindings.ipc);
  const helper = spawnDirectly({ ...request, channel: pipe });
  if (!helper) {
    pipe.close();
    return undefined;
  }
  hearDoors(pipe, bindings, take);
  pipe.readStart();
  return { ...helper, ended: helper.ended.finally(() => pipe.close()) };
}

function readDoor(text: string): string {
  try {
    return (JSON.parse(text) as ChannelMessage).msg?.door ?? '';
  } catch {
    return '';
  }
}

/** By the documented way, which takes longer to load. */
function spawnAsDocumented({ file, fd }: SpawnRequest, take: TakeDoor): SpawnedHelper {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(file, [], { stdio: [0, 1, 2, fd, 'ipc'], env: {}, cwd: '/' });
  child.on('message', (message, handle: unknown) => {
    if (handle) take((message as ChannelMessage['msg'])?.door ?? '', handle as DoorHandle);
  });
  return toSpawned(child);
}
