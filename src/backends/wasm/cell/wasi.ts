import { randomFillSync } from 'node:crypto';
import { ERRNO, FileError } from './errno.ts';
import type { GuestMemory } from './guest-memory.ts';
import type { KeeperLine } from './keeper-line.ts';
import { sleep } from './sleep.ts';
import { makeFileImports } from './wasi-files.ts';
import { makeStreamImports } from './wasi-streams.ts';

/** Unwinds the engine: the program has said that it ends. */
export class ProgramExit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('exit');
    this.exitCode = exitCode;
  }
}

/** Returns the errno, or nothing for success. */
export type WasiCall = (...args: never[]) => unknown;

export interface WasiContext {
  readonly memory: GuestMemory;
  readonly line: KeeperLine;
  readonly argv: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  /** Sees what goes to stderr. */
  readonly onError?: ((data: Uint8Array) => void) | undefined;
}

const CLOCK_RESOLUTION_NS = 1000n;
const NS_PER_MS = 1_000_000;
const EVENT_BYTES = 32;
const SUBSCRIPTION_BYTES = 48;
const MAX_SUBSCRIPTIONS = 64;
const MAX_RANDOM_BYTES = 1 << 16;

/** The time of day, of a clock that is never set back, and of the processors since `started`. */
function readClock(id: number, started: NodeJS.CpuUsage): bigint {
  if (id === 0) return BigInt(Date.now()) * BigInt(NS_PER_MS);
  if (id === 1) return process.hrtime.bigint();
  if (id > 3) throw new FileError('INVAL');
  const { user, system } = process.cpuUsage(started);
  return BigInt(user + system) * 1000n;
}

/** A list of texts with a zero behind each, and where each starts. */
function makeTextList(
  memory: GuestMemory,
  texts: readonly string[],
): Record<'sizes' | 'get', WasiCall> {
  const encoded = texts.map((text) => Buffer.from(`${text}\0`));
  const whole = Buffer.concat(encoded);
  return {
    sizes: (countPointer: number, sizePointer: number) => {
      memory.setUint32(countPointer, encoded.length);
      memory.setUint32(sizePointer, whole.length);
    },
    get: (listPointer: number, textPointer: number) => {
      const list = memory.view(listPointer, encoded.length * 4);
      let at = textPointer >>> 0;
      for (const [index, { length }] of encoded.entries()) {
        list.setUint32(index * 4, at, true);
        at += length;
      }
      memory.bytes(textPointer, whole.length).set(whole);
    },
  };
}

/** Waits for the earliest clock, and takes every stream and file to be ready. */
function makePoll(memory: GuestMemory, started: NodeJS.CpuUsage): WasiCall {
  return (input: number, output: number, count: number, countPointer: number) => {
    if (count === 0 || count >>> 0 > MAX_SUBSCRIPTIONS) throw new FileError('INVAL');
    const asked = Array.from({ length: count }, (_, index) => {
      const view = memory.view((input >>> 0) + index * SUBSCRIPTION_BYTES, SUBSCRIPTION_BYTES);
      const type = view.getUint8(8);
      const clock = view.getUint32(16, true);
      const timeout = view.getBigUint64(24, true);
      const isAbsolute = (view.getUint16(40, true) & 1) === 1;
      const waitNs = type === 0 ? (isAbsolute ? timeout - readClock(clock, started) : timeout) : 0n;
      return { userData: view.getBigUint64(0, true), type, waitNs: waitNs > 0n ? waitNs : 0n };
    });
    const soonest = asked.reduce(
      (least, { waitNs }) => (waitNs < least ? waitNs : least),
      2n ** 63n,
    );
    sleep(Number(soonest) / NS_PER_MS);
    const ready = asked.filter(({ waitNs }) => waitNs <= soonest);
    for (const [index, { userData, type }] of ready.entries()) {
      const view = memory.view((output >>> 0) + index * EVENT_BYTES, EVENT_BYTES);
      view.setBigUint64(0, userData, true);
      view.setUint16(8, ERRNO.SUCCESS, true);
      view.setUint8(10, type);
      view.setBigUint64(16, 1n, true);
      view.setUint16(24, 0, true);
    }
    memory.setUint32(countPointer, ready.length);
  };
}

/** Every way out of the engine: a refusal becomes a number, and whatever else goes wrong a fault. */
function guard(call: WasiCall): WasiCall {
  return (...args: never[]) => {
    try {
      const errno = call(...args);
      return typeof errno === 'number' ? errno : ERRNO.SUCCESS;
    } catch (error) {
      if (error instanceof FileError) return ERRNO[error.errno];
      if (error instanceof RangeError) return ERRNO.FAULT;
      throw error;
    }
  };
}

/** All that a program inside can do besides computing. */
export function makeWasi(context: WasiContext): Record<string, WasiCall> {
  const { memory, line } = context;
  const args = makeTextList(memory, context.argv);
  const environment = makeTextList(
    memory,
    context.env.map(([name, value]) => `${name}=${value}`),
  );
  const started = process.cpuUsage();
  const noSocket = (): number => ERRNO.NOTSOCK;
  const calls: Record<string, WasiCall> = {
    args_sizes_get: args.sizes,
    args_get: args.get,
    environ_sizes_get: environment.sizes,
    environ_get: environment.get,
    clock_res_get: (id: number, pointer: number) => {
      if (id > 3) throw new FileError('INVAL');
      memory.setUint64(pointer, CLOCK_RESOLUTION_NS);
    },
    clock_time_get: (id: number, _precision: bigint, pointer: number) => {
      const now = readClock(id, started);
      memory.setUint64(pointer, now - (now % CLOCK_RESOLUTION_NS));
    },
    random_get: (pointer: number, length: number) => {
      const bytes = memory.bytes(pointer, length);
      for (let at = 0; at < bytes.length; at += MAX_RANDOM_BYTES)
        randomFillSync(bytes.subarray(at, at + MAX_RANDOM_BYTES));
    },
    poll_oneoff: makePoll(memory, started),
    sched_yield: () => ERRNO.SUCCESS,
    proc_exit: (code: number) => {
      throw new ProgramExit(code >>> 0);
    },
    sock_accept: noSocket,
    sock_recv: noSocket,
    sock_send: noSocket,
    sock_shutdown: noSocket,
    ...makeFileImports(memory, line),
    ...makeStreamImports(context),
  };
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, guard(call)]));
}
