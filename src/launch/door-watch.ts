import type { DoorHandle } from './door-channel.ts';

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

  /** False when this version of node has no such handles; then there is nothing to wait for. */
  add(handle: DoorHandle): boolean {
    if (handle.listen) return this.#addListener(handle) && handle.listen(BACKLOG) === 0;
    return handle.recvStart !== undefined && this.#addReceiver(handle) && handle.recvStart() === 0;
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

  #addListener(handle: DoorHandle): boolean {
    handle.onconnection = (status, client) => {
      if (client) this.#clients.add(client);
      this.#handOn.push(() => handle.onconnection?.(status, client));
      this.#onKnock();
    };
    return true;
  }

  #addReceiver(handle: DoorHandle): boolean {
    handle.onmessage = (...message) => {
      if (this.#handOn.length < MAX_KEPT) this.#handOn.push(() => handle.onmessage?.(...message));
      this.#onKnock();
    };
    return true;
  }
}
