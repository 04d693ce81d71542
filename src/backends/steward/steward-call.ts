import { OutputBuffer } from '../output-buffer.ts';
import type { SandboxLimits } from '../spec.ts';
import type { StewardLink } from './steward-link.ts';
import {
  encodeFields,
  encodeU32,
  type Frame,
  FROM_STEWARD,
  MAX_FRAME_BYTES,
  TO_STEWARD,
} from './wire.ts';

export interface CallRequest {
  readonly argv: readonly string[];
  /** Absolute, inside. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  readonly more: MoreLimits;
  readonly onOutput: (stream: 'stdout' | 'stderr', data: Uint8Array) => void;
}

/** What the container itself does not keep. */
export interface MoreLimits {
  /** Processes of the whole guest, where its kernel has no other way to count them. */
  readonly guestProcesses?: number | undefined;
  /** Of a workspace that is a directory of the host: everything in it, also what was there before. */
  readonly workspaceBytes?: number | undefined;
  readonly workspaceFiles?: number | undefined;
}

export type EndKind = 'exited' | 'signaled' | 'not started';
export type EndCause = 'none' | 'killed' | 'cpu' | 'disk' | 'inodes';
export type Reached = 'memoryBytes' | 'pids' | 'diskBytes' | 'inodes';

/** How a call ended, as the steward saw it. */
export interface CallEnd {
  readonly kind: EndKind;
  /** Exit code, number of the signal, or errno. */
  readonly value: number;
  readonly cause: EndCause;
  readonly reached: readonly Reached[];
  readonly cpuMs: number;
  readonly maxMemoryBytes: number;
  readonly diskBytes: number;
  readonly dropped: { readonly stdout: number; readonly stderr: number };
}

const KINDS = ['exited', 'signaled', 'not started'] as const;
const CAUSES = ['none', 'killed', 'cpu', 'disk', 'inodes'] as const;
const REACHED = ['memoryBytes', 'pids', 'diskBytes', 'inodes'] as const;
const EXIT_BYTES = 56;
/** How much of stdin may be on its way before the program has taken some. */
const STDIN_WINDOW = 256 * 1024;

/** One program inside, and its streams. */
export class StewardCall {
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
  /** Undefined when the steward went away meanwhile. */
  readonly ended: Promise<CallEnd | undefined>;
  readonly #link: StewardLink;
  readonly #request: CallRequest;
  readonly #channel: number;
  #resolve: (end: CallEnd | undefined) => void = () => undefined;
  #window = STDIN_WINDOW;
  readonly #waiting: { data: Uint8Array; taken: () => void }[] = [];
  #isInputEnded = false;
  #hasEnded = false;

  constructor(link: StewardLink, request: CallRequest) {
    const { argv, cwd, env, limits, more } = request;
    const outputBytes = limits.outputBytes ?? Number.MAX_SAFE_INTEGER;
    this.#link = link;
    this.#request = request;
    this.stdout = new OutputBuffer(outputBytes);
    this.stderr = new OutputBuffer(outputBytes);
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    this.#channel = link.open({
      take: (frame) => this.#take(frame),
      close: () => this.#end(undefined),
    });
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const { guestProcesses, workspaceBytes, workspaceFiles } = more;
    const numbers = [
      limits.cpuMs ?? 0,
      limits.openFiles ?? 0,
      outputBytes,
      guestProcesses ?? 0,
      workspaceBytes ?? 0,
      workspaceFiles ?? 0,
    ];
    const counts = [argv.length, variables.length];
    link.send(
      TO_STEWARD.start,
      this.#channel,
      encodeFields(numbers, counts, [cwd, ...argv, ...variables]),
    );
  }

  /** Resolves when the program, or at least the pipe to it, has taken all of it. Nothing is taken after its end. */
  async write(data: Uint8Array): Promise<void> {
    if (this.#hasEnded || this.#isInputEnded || data.length === 0) return;
    await new Promise<void>((taken) => {
      this.#waiting.push({ data, taken });
      this.#feed();
    });
  }

  closeStdin(): void {
    if (this.#isInputEnded) return;
    this.#isInputEnded = true;
    this.#feed();
  }

  signal(number: number): void {
    this.#link.send(TO_STEWARD.signal, this.#channel, encodeU32(number));
  }

  /** Everything that the call has started. */
  kill(): void {
    this.#link.send(TO_STEWARD.kill, this.#channel);
  }

  #feed(): void {
    while (this.#window > 0) {
      const next = this.#waiting[0];
      if (!next) break;
      const size = Math.min(this.#window, MAX_FRAME_BYTES, next.data.length);
      this.#link.send(TO_STEWARD.stdin, this.#channel, next.data.subarray(0, size));
      this.#window -= size;
      if (size === next.data.length) {
        this.#waiting.shift();
        next.taken();
      } else next.data = next.data.subarray(size);
    }
    if (this.#isInputEnded && this.#waiting.length === 0)
      this.#link.send(TO_STEWARD.stdinEnd, this.#channel);
  }

  #take({ type, payload }: Frame): void {
    if (type === FROM_STEWARD.stdout || type === FROM_STEWARD.stderr) {
      const stream = type === FROM_STEWARD.stdout ? 'stdout' : 'stderr';
      const kept = this[stream].add(payload);
      if (kept.length > 0) this.#request.onOutput(stream, kept);
    } else if (type === FROM_STEWARD.window && payload.length === 4) {
      this.#window += payload.readUInt32LE(0);
      this.#feed();
    } else if (type === FROM_STEWARD.exit && payload.length === EXIT_BYTES) {
      this.#link.release(this.#channel);
      this.#end(parseEnd(payload));
    }
  }

  #end(end: CallEnd | undefined): void {
    this.#hasEnded = true;
    for (const { taken } of this.#waiting.splice(0)) taken();
    this.#resolve(end);
  }
}

function parseEnd(payload: Buffer): CallEnd {
  const count = (index: number): number => Number(payload.readBigUInt64LE(16 + 8 * index));
  const bits = payload.readUInt32LE(12);
  return {
    kind: KINDS[payload.readUInt32LE(0)] ?? 'signaled',
    value: payload.readUInt32LE(4),
    cause: CAUSES[payload.readUInt32LE(8)] ?? 'none',
    reached: REACHED.filter((_, index) => (bits & (1 << index)) !== 0),
    cpuMs: Math.round(count(0) / 1000),
    maxMemoryBytes: count(1),
    diskBytes: count(2),
    dropped: { stdout: count(3), stderr: count(4) },
  };
}
