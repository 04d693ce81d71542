import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Descriptors } from './descriptors.ts';
import { type ErrnoName, FileError } from './errno.ts';

/** What a run may ask of the files. */
export const FILE_OPERATIONS = [
  'openAt',
  'close',
  'read',
  'write',
  'seek',
  'resize',
  'allocate',
  'statFd',
  'isWritable',
  'statAt',
  'setTime',
  'readDirectory',
  'makeDirectory',
  'makeLink',
  'readLink',
  'remove',
  'rename',
  'readGiven',
] as const satisfies readonly (keyof Descriptors)[];
export type FileOperation = (typeof FILE_OPERATIONS)[number];

export type Question =
  | { readonly ask: 'file'; readonly op: FileOperation; readonly args: readonly unknown[] }
  | { readonly ask: 'stdin'; readonly maxBytes: number };
export type Told =
  | { readonly tell: 'output'; readonly stream: 'stdout' | 'stderr'; readonly data: Uint8Array }
  | { readonly tell: 'end'; readonly end: ProgramEnd };
export type Answer = { readonly value: unknown } | { readonly errno: ErrnoName };

/** How the program itself ended, when nobody ended it. */
export type ProgramEnd = (
  | { readonly kind: 'exited'; readonly exitCode: number; readonly isOutOfMemory: boolean }
  /** The engine gave up: it ran into something that it must not do, or its stack is full. */
  | { readonly kind: 'trapped'; readonly isStackFull: boolean; readonly isOutOfMemory: boolean }
) & { readonly maxMemoryBytes: number };

/** Places in the memory that both sides share. */
const ANSWERS = 0;
const WAITING_BYTES = 1;
const DROPPED = { stdout: 2, stderr: 4 } as const;
export const CONTROL_BYTES = 6 * Int32Array.BYTES_PER_ELEMENT;

/** Output that nobody has taken yet may be this much before the program has to wait. */
const MAX_WAITING_BYTES = 1 << 20;
const MESSAGE_COST = 512;
const LOW_BITS = 2 ** 31;

function addDropped(control: Int32Array, stream: 'stdout' | 'stderr', count: number): void {
  const place = DROPPED[stream];
  const sum = readDropped(control, stream) + count;
  Atomics.store(control, place, sum % LOW_BITS);
  Atomics.store(control, place + 1, Math.floor(sum / LOW_BITS));
}

/** Is kept where it outlives the run, however that ends. */
export function readDropped(control: Int32Array, stream: 'stdout' | 'stderr'): number {
  const place = DROPPED[stream];
  return Atomics.load(control, place) + Atomics.load(control, place + 1) * LOW_BITS;
}

/** The keeper's end. */
export function answerQuestion(port: MessagePort, control: Int32Array, answer: Answer): void {
  port.postMessage(answer);
  Atomics.add(control, ANSWERS, 1);
  Atomics.notify(control, ANSWERS);
}

export function acceptOutput(control: Int32Array, data: Uint8Array): void {
  Atomics.sub(control, WAITING_BYTES, data.length + MESSAGE_COST);
  Atomics.notify(control, WAITING_BYTES);
}

/** The run's end: asks and waits, since the engine cannot go on without an answer. */
export class KeeperLine {
  private readonly port: MessagePort;
  private readonly control: Int32Array;
  private readonly roomFor: { stdout: number; stderr: number };

  constructor(port: MessagePort, control: Int32Array, outputBytes: number) {
    this.port = port;
    this.control = control;
    this.roomFor = { stdout: outputBytes, stderr: outputBytes };
  }

  private ask(question: Question): unknown {
    const before = Atomics.load(this.control, ANSWERS);
    this.port.postMessage(question);
    // The notice of the answer before may come only now, and wakes whoever waits.
    while (Atomics.load(this.control, ANSWERS) === before)
      Atomics.wait(this.control, ANSWERS, before);
    const answer = receiveMessageOnPort(this.port)?.message as Answer;
    if ('errno' in answer) throw new FileError(answer.errno);
    return answer.value;
  }

  file<Op extends FileOperation>(
    op: Op,
    ...args: Parameters<Descriptors[Op]>
  ): ReturnType<Descriptors[Op]> {
    return this.ask({ ask: 'file', op, args }) as ReturnType<Descriptors[Op]>;
  }

  /** Empty at the end. */
  readStdin(maxBytes: number): Uint8Array {
    return this.ask({ ask: 'stdin', maxBytes }) as Uint8Array;
  }

  /** What is over the limit is counted here and goes nowhere: a flood costs no one else anything. */
  write(stream: 'stdout' | 'stderr', data: Uint8Array): void {
    const kept = data.slice(0, this.roomFor[stream]);
    this.roomFor[stream] -= kept.length;
    if (kept.length < data.length) addDropped(this.control, stream, data.length - kept.length);
    if (kept.length === 0) return;
    for (;;) {
      const waiting = Atomics.load(this.control, WAITING_BYTES);
      if (waiting <= MAX_WAITING_BYTES) break;
      Atomics.wait(this.control, WAITING_BYTES, waiting);
    }
    Atomics.add(this.control, WAITING_BYTES, kept.length + MESSAGE_COST);
    this.port.postMessage({ tell: 'output', stream, data: kept } satisfies Told);
  }

  end(end: ProgramEnd): void {
    this.port.postMessage({ tell: 'end', end } satisfies Told);
    this.port.close();
  }
}
