import type { Writable } from 'node:stream';
import { SandboxError } from '../sandbox-error.ts';
import { encodeFrame, type Frame, FROM_STEWARD, FrameReader, MAGIC, TO_STEWARD } from './wire.ts';

/** Takes the frames of one channel; `close` is called once when the steward is gone before its end. */
export interface ChannelUser {
  take(frame: Frame): void;
  close(): void;
}

/** What a steward finds where it runs, by name; see native/steward/counters.c. */
export type Hello = ReadonlyMap<string, readonly string[]>;

export interface StewardLinkOptions {
  /** What the container reads. */
  readonly input: Writable;
  readonly onDoor: (channel: number, link: StewardLink) => ChannelUser;
  /** Once, when it cannot be spoken to any more, for whatever reason. */
  readonly onGone: (reason: string) => void;
}

/** Channels with this bit are connections that programs have opened. */
const DOOR_CHANNEL = 0x80000000;

/** The conversation with one steward. What it says is not trusted: it runs where the code runs. */
export class StewardLink {
  readonly hello: Promise<Hello>;
  readonly #options: StewardLinkOptions;
  readonly #reader = new FrameReader();
  readonly #users = new Map<number, ChannelUser>();
  #next = 1;
  #gone: string | undefined;
  #greet: { resolve(hello: Hello): void; reject(error: Error): void } | undefined;

  constructor(options: StewardLinkOptions) {
    this.#options = options;
    this.hello = new Promise((resolve, reject) => (this.#greet = { resolve, reject }));
    // Whoever waits for it hears of it; nobody has to.
    this.hello.catch(() => undefined);
    options.input.write(MAGIC);
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** A channel of its own; its user is asked no more after `release`. */
  open(user: ChannelUser): number {
    if (this.#gone !== undefined) throw makeGone(this.#gone);
    const channel = this.#next++;
    this.#users.set(channel, user);
    return channel;
  }

  release(channel: number): void {
    this.#users.delete(channel);
  }

  /** False when the other side should be given a moment; nothing is lost either way. */
  send(type: number, channel: number, payload: Uint8Array = new Uint8Array()): boolean {
    if (this.#gone !== undefined) return true;
    return this.#options.input.write(encodeFrame(type, channel, payload));
  }

  get queuedBytes(): number {
    return this.#options.input.writableLength;
  }

  /** Bytes that the steward has printed. */
  receive(chunk: Buffer): void {
    let frames: Frame[];
    try {
      frames = this.#reader.add(chunk);
    } catch (error) {
      this.fail(`it does not keep to the protocol: ${error instanceof Error ? error.message : ''}`);
      return;
    }
    for (const frame of frames) this.#dispatch(frame);
  }

  fail(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    this.#greet?.reject(makeGone(reason));
    const users = [...this.#users.values()];
    this.#users.clear();
    for (const user of users) user.close();
    this.#options.onGone(reason);
  }

  #dispatch(frame: Frame): void {
    if (frame.type === FROM_STEWARD.hello) {
      this.#greet?.resolve(parseHello(frame.payload));
      return;
    }
    const user = this.#users.get(frame.channel);
    if (user) user.take(frame);
    else if (frame.type === FROM_STEWARD.doorOpen && frame.channel >= DOOR_CHANNEL)
      this.#users.set(frame.channel, this.#options.onDoor(frame.channel, this));
  }

  /** Asks for one thing; resolves with the data that came for it. */
  async ask(type: number, payload: Uint8Array = new Uint8Array()): Promise<Buffer> {
    return await new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const channel = this.open({
        take: (frame) => {
          if (frame.type === FROM_STEWARD.data) {
            chunks.push(frame.payload);
            return;
          }
          this.release(channel);
          if (frame.type === FROM_STEWARD.ok) resolve(Buffer.concat(chunks));
          else reject(new StewardErrno(frame.payload.readUInt32LE(0)));
        },
        close: () => reject(makeGone(this.#gone ?? '')),
      });
      this.send(type, channel, payload);
    });
  }

  /** Ends every process inside but the steward. */
  killAll(): void {
    this.send(TO_STEWARD.killAll, 0);
  }
}

/** What the kernel inside said to something that was asked for. */
export class StewardErrno extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}

export function makeGone(reason: string): SandboxError {
  return new SandboxError('gone', `The sandbox is gone: ${reason}`);
}

function parseHello(payload: Buffer): Hello {
  const lines = payload.toString('latin1').split('\n');
  return new Map(
    lines
      .map((line) => line.split(' '))
      .filter(([name]) => name !== undefined && name !== '')
      .map(([name = '', ...values]) => [name, values]),
  );
}
