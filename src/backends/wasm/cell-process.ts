import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { distPath } from '../../launch/helper-path.ts';
import type { Outcome } from '../sandbox.ts';
import { SandboxError } from '../sandbox-error.ts';
import { CELL_FILE, type CellWall } from './confine-cell.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeFrame, FrameReader } from './frames.ts';
import type { CellConfig, FileRequest, FromCell, RunEnd, RunRequest, ToCell } from './protocol.ts';

/** Nothing but what is its own: no native code, no code out of text, no configuration of the host. */
const FLAGS = [
  '--no-addons',
  '--disallow-code-generation-from-strings',
  '--disable-proto=delete',
  '--openssl-config=/dev/null',
];
const MAX_COMPLAINT = 4096;

interface SpawnedCell {
  readonly child: ChildProcess;
  /** Why it did not come to run at all, where the helper knows. */
  readonly explain: () => string;
  readonly forget: () => void;
}

/** Nothing of ours is in its environment, and no signal of a terminal reaches it. */
const APART = { env: {}, cwd: '/', detached: true } as const;

async function spawnCell({ confinement }: CellWall): Promise<SpawnedCell> {
  const argv = [realpathSync(process.execPath), ...FLAGS, realpathSync(distPath(CELL_FILE))];
  if (!confinement) {
    const child = spawn(argv[0] ?? '', argv.slice(1), { ...APART, stdio: 'pipe' });
    return { child, explain: () => '', forget: () => undefined };
  }
  const { file, identity, plan } = await confinement.prepare(argv, []);
  const child = spawn(file, [], {
    ...APART,
    ...identity,
    stdio: ['pipe', 'pipe', 'pipe', plan.fd],
  });
  return { child, explain: () => plan.explain(), forget: () => plan.close() };
}

export interface CellRun {
  readonly ended: Promise<RunEnd>;
  /** An empty piece is the end. */
  addStdin(piece: Uint8Array): void;
  end(outcome: Outcome): void;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly onOutput?: ((stream: 'stdout' | 'stderr', data: Uint8Array) => void) | undefined;
}

export interface FileAnswer {
  readonly value: unknown;
  readonly bytes: Uint8Array;
}

/** What a cell says no to, as a number would. */
export class CellRefusal extends Error {
  readonly errno: string;

  constructor(errno: string) {
    super(errno);
    this.errno = errno;
  }
}

/** A process that holds the files of one sandbox and runs its programs. Nothing that it says is taken on trust. */
export class CellProcess {
  private readonly child: ChildProcess;
  private readonly reader = new FrameReader();
  private readonly waiting = new Map<number, Waiting>();
  private readonly exited: Promise<void>;
  private lastId = 0;
  private complaint = '';
  private ending: SandboxError | undefined;

  private constructor(child: ChildProcess, explain: () => string) {
    this.child = child;
    this.exited = new Promise((resolve) => {
      child.once('error', (cause) => {
        this.fail(`it cannot be started: ${cause.message}`);
        resolve();
      });
      child.once('close', (code, signal) => {
        const why = [explain(), this.complaint].filter(Boolean).join('; ');
        this.fail(`it ended with ${signal ?? code}${why && `: ${why}`}`);
        resolve();
      });
    });
    child.stdout?.on('data', (chunk: Buffer) => this.take(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (this.complaint.length < MAX_COMPLAINT) this.complaint += chunk.toString();
    });
    // Writing to a cell that is gone is told by its end.
    child.stdin?.on('error', () => undefined);
  }

  static async start(
    config: CellConfig,
    wall: CellWall,
    signal?: AbortSignal,
  ): Promise<CellProcess> {
    const { child, explain, forget } = await spawnCell(wall);
    const cell = new CellProcess(child, explain);
    void cell.exited.then(forget);
    const stop = (): void => cell.kill();
    signal?.addEventListener('abort', stop);
    try {
      signal?.throwIfAborted();
      await cell.wait(0, { type: 'config', config });
      return cell;
    } catch (error) {
      await cell.close();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  private send(message: ToCell, bytes?: Uint8Array): void {
    this.child.stdin?.write(encodeFrame(message, bytes));
  }

  private wait<T>(
    id: number,
    message: ToCell,
    bytes?: Uint8Array,
    onOutput?: Waiting['onOutput'],
  ): Promise<T> {
    if (this.ending) return Promise.reject(this.ending);
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onOutput });
      this.send(message, bytes);
    });
  }

  private take(chunk: Buffer): void {
    try {
      for (const { message, bytes } of this.reader.feed(chunk))
        this.hear(decodeMessage(message), bytes);
    } catch (error) {
      this.fail(`it does not speak as it should: ${(error as Error).message}`);
      this.kill();
    }
  }

  private hear(message: FromCell, bytes: Uint8Array): void {
    const id = message.type === 'ready' ? 0 : message.id;
    const found = this.waiting.get(id);
    if (!found) return; // of a run that nobody waits for any more
    if (message.type === 'output') {
      found.onOutput?.(message.stream, bytes.slice());
      return;
    }
    this.waiting.delete(id);
    const resolve = found.resolve as (value: unknown) => void;
    if (message.type === 'ready') resolve(undefined);
    else if (message.type === 'ended') resolve(message.end);
    else if (message.type === 'file') resolve({ value: message.value, bytes: bytes.slice() });
    else if (message.type === 'refused') found.reject(new CellRefusal(message.errno));
    else found.reject(new SandboxError('engine_failed', `The engine broke: ${message.reason}`));
  }

  private fail(why: string): void {
    this.ending ??= new SandboxError('engine_failed', `The process of the engine is gone: ${why}`);
    for (const { reject } of this.waiting.values()) reject(this.ending);
    this.waiting.clear();
  }

  run(
    request: RunRequest,
    onOutput: (stream: 'stdout' | 'stderr', data: Uint8Array) => void,
  ): CellRun {
    this.lastId += 1;
    const id = this.lastId;
    return {
      ended: this.wait(id, { type: 'run', id, request }, undefined, onOutput),
      addStdin: (piece) => this.send({ type: 'stdin', id }, piece),
      end: (outcome) => this.send({ type: 'end', id, outcome }),
    };
  }

  async file(request: FileRequest, bytes?: Uint8Array): Promise<FileAnswer> {
    this.lastId += 1;
    const id = this.lastId;
    return await this.wait(id, { type: 'file', id, request }, bytes);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.kill();
    await this.exited;
  }
}
