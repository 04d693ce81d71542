import { AssayError } from '../core/errors.ts';

/**
 * A socket that came with a message, as node hands it on before it is a server of its own. Not documented, but for its
 * use as `server.listen(handle)`, so nothing is called that is not seen to be there.
 */
export interface DoorHandle {
  close(): void;
  readonly listen?: (backlog: number) => number;
  readonly recvStart?: () => number;
  onconnection?: (this: DoorHandle, status: number, client?: DoorHandle) => void;
  onmessage?: (this: DoorHandle, ...message: never[]) => void;
}

export function requireDoorHandle(handle: unknown): DoorHandle {
  const { listen, recvStart, close } = handle as Partial<Record<string, unknown>>;
  const isServer = typeof listen === 'function' && 'onconnection' in (handle as object);
  if (typeof close === 'function' && (isServer || typeof recvStart === 'function'))
    return handle as DoorHandle;
  throw new AssayError(
    'E_LAUNCH_FAILED',
    `Node ${process.versions.node} hands over sockets in a way that assay does not know`,
    { hint: 'Use Node 20, 22, 24 or 26, or a policy without net.allow' },
  );
}

/** More than node's own choice: a burst of connections waits, and is not sent away. */
export const BACKLOG = 4096;
/** Questions that are kept until somebody answers them; who asks does so again. */
const MAX_KEPT = 64;

/**
 * Looks after doors that nobody serves yet: most runs that may use the network end before they do, and what serves it
 * takes longer to load than they run. What comes meanwhile is kept, and handed on to whoever takes the handle over.
 */
export class DoorWatch {
  readonly #onKnock: () => void;
  readonly #handOn: (() => void)[] = [];
  readonly #clients = new Set<DoorHandle>();

  constructor(onKnock: () => void) {
    this.#onKnock = onKnock;
  }

  /** False when it cannot be listened to; then there is nothing to wait for. */
  add(handle: DoorHandle): boolean {
    if (handle.listen) {
      this.#addListener(handle);
      return handle.listen(BACKLOG) === 0;
    }
    this.#addReceiver(handle);
    return handle.recvStart?.() === 0;
  }

  /** To be called when the handles have got their real owners. */
  handOn(): void {
    this.#clients.clear();
    for (const hand of this.#handOn.splice(0)) hand();
  }

  close(): void {
    for (const client of this.#clients) client.close();
    this.#clients.clear();
    this.#handOn.length = 0;
  }

  #addListener(handle: DoorHandle): void {
    handle.onconnection = (status, client) => {
      if (client) this.#clients.add(client);
      this.#handOn.push(() => handle.onconnection?.(status, client));
      this.#onKnock();
    };
  }

  #addReceiver(handle: DoorHandle): void {
    handle.onmessage = (...message) => {
      if (this.#handOn.length < MAX_KEPT) this.#handOn.push(() => handle.onmessage?.(...message));
      this.#onKnock();
    };
  }
}
