import type { Duplex } from 'node:stream';
import { SandboxError } from '../sandbox-error.ts';
import { defer } from './deferred.ts';
import {
  breach,
  encodeFrame,
  FIRST_STREAM,
  type Frame,
  FrameReader,
  type RequestType,
} from './frames.ts';
import { decodeExit, decodeHello, type Exit, type Hello } from './messages.ts';

/** What one call hears. */
export interface CallListener {
  onOutput(stream: 'stdout' | 'stderr', data: Buffer): void;
  /** So many bytes of its input have been taken. */
  onCredit(bytes: number): void;
  onExit(exit: Exit): void;
  /** There will be no exit: the machine is gone. */
  onLost(error: SandboxError): void;
}

/** What the door to the network hears. */
export interface StreamListener {
  onOpen(id: number): void;
  onData(id: number, data: Buffer): void;
  onEnd(id: number): void;
  onReset(id: number): void;
  onCredit(id: number, bytes: number): void;
}

interface Pending {
  readonly resolve: (answer: Buffer) => void;
  readonly reject: (error: Error) => void;
}

const ERRNO_BYTES = 4;

/** What the guest's agent could not do, by the number of the error. */
export class GuestRefusal extends Error {
  readonly errno: number;
  constructor(errno: number) {
    super(`The guest answered with the error ${errno}`);
    this.errno = errno;
  }
}

/** The one line between the host and a guest: requests and answers, calls and connections, told apart by numbers. */
export class GuestLink {
  readonly #port: Duplex;
  readonly #pending = new Map<number, Pending>();
  readonly #calls = new Map<number, CallListener>();
  readonly #greeting = defer<Hello>();
  readonly #lost = defer<SandboxError>();
  #streams: StreamListener | undefined;
  #error: SandboxError | undefined;
  #lastId = 0;

  /** `explainEnd` resolves, with what there is to say about it, once the machine has ended. */
  constructor(port: Duplex, explainEnd: () => Promise<string> = () => Promise.resolve('')) {
    this.#port = port;
    // Whoever waits for it hears of it; nobody has to.
    this.#greeting.promise.catch(() => undefined);
    const reader = new FrameReader((frame) => this.#handle(frame));
    port.on('data', (chunk: Buffer) => {
      try {
        if (!this.#error) reader.feed(chunk);
      } catch (error) {
        this.lose(SandboxError.is(error) ? error : breach(String(error)));
      }
    });
    port.on('error', () => undefined); // followed by the close
    port.on('close', () => {
      void explainEnd().then((why) => {
        const also = why ? `: ${why}` : '';
        this.lose(new SandboxError('engine_failed', `The machine has ended${also}`));
      });
    });
  }

  /** Comes from a guest that has just started, not from a snapshot of one. */
  get hello(): Promise<Hello> {
    return this.#greeting.promise;
  }

  /** Resolves, with the reason, when nothing will come from the guest any more. */
  get lost(): Promise<SandboxError> {
    return this.#lost.promise;
  }

  listenToStreams(streams: StreamListener): void {
    this.#streams = streams;
  }

  /** Rejects with a `GuestRefusal` when the guest cannot do it. */
  request(type: 'setup' | 'files', payload: Buffer): Promise<Buffer> {
    const id = this.#takeId();
    return this.#ask(type, id, payload);
  }

  /** Resolves with the number of the call once the guest has taken it on. */
  async startCall(payload: Buffer, listener: CallListener): Promise<number> {
    const id = this.#takeId();
    this.#calls.set(id, listener);
    try {
      await this.#ask('exec', id, payload);
    } catch (error) {
      this.#calls.delete(id);
      throw error;
    }
    return id;
  }

  send(type: RequestType, id: number, payload: Uint8Array = Buffer.alloc(0)): void {
    if (!this.#error) this.#port.write(encodeFrame(type, id, payload));
  }

  sendNumber(type: 'signal' | 'credit', id: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.send(type, id, bytes);
  }

  /** Everybody who waits is told. Only the first reason counts. */
  lose(error: SandboxError): void {
    if (this.#error) return;
    this.#error = error;
    this.#greeting.reject(error);
    for (const { reject } of this.#pending.values()) reject(error);
    for (const call of this.#calls.values()) call.onLost(error);
    this.#pending.clear();
    this.#calls.clear();
    this.#port.destroy();
    this.#lost.resolve(error);
  }

  #takeId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #ask(type: RequestType, id: number, payload: Buffer): Promise<Buffer> {
    const { promise, resolve, reject } = defer<Buffer>();
    if (this.#error) return Promise.reject(this.#error);
    this.#pending.set(id, { resolve, reject });
    this.send(type, id, payload);
    return promise;
  }

  #handle(frame: Frame): void {
    const { type, id, payload } = frame;
    if (type === 'hello') return this.#greeting.resolve(decodeHello(payload));
    if (type === 'done') return this.#answer(id, payload);
    if (id >= FIRST_STREAM) return this.#handleStream(frame);
    const call = this.#calls.get(id);
    if (!call) throw breach(`a frame ${type} for the call ${id}, which there is not`);
    if (type === 'stdout' || type === 'stderr') return call.onOutput(type, payload);
    if (type === 'credit') return call.onCredit(payload.readUInt32LE(0));
    if (type !== 'exit') throw breach(`a frame ${type} for a call`);
    const exit = decodeExit(payload);
    this.#calls.delete(id);
    call.onExit(exit);
  }

  #answer(id: number, payload: Buffer): void {
    const pending = this.#pending.get(id);
    if (!pending) throw breach(`an answer to ${id}, which nobody has asked`);
    this.#pending.delete(id);
    const errno = payload.readUInt32LE(0);
    if (errno === 0) return pending.resolve(payload.subarray(ERRNO_BYTES));
    pending.reject(new GuestRefusal(errno));
  }

  #handleStream({ type, id, payload }: Frame): void {
    const streams = this.#streams;
    if (!streams) throw breach('a connection where there is no door');
    if (type === 'netOpen') return streams.onOpen(id);
    if (type === 'netData') return streams.onData(id, payload);
    if (type === 'netEnd') return streams.onEnd(id);
    if (type === 'netReset') return streams.onReset(id);
    if (type === 'credit') return streams.onCredit(id, payload.readUInt32LE(0));
    throw breach(`a frame ${type} for a connection`);
  }
}
