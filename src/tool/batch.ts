import { toPrintableJson } from '../core/printable.ts';
import { isTaskProblem, parseTask, type BatchTask, type TaskProblem } from './batch-task.ts';
import type { CodeOutput } from './code-output.ts';
import { readLines } from './read-lines.ts';

const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** How far the fastest task may be ahead of the slowest, in units of what runs at a time. */
const WINDOW = 4;

export type TaskResult = CodeOutput | { readonly error: TaskError };

export interface TaskError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
}

export interface BatchProgress {
  readonly done: number;
  readonly failed: number;
  readonly running: number;
}

export interface BatchOptions {
  readonly input: AsyncIterable<Uint8Array>;
  readonly parallel: number;
  /** Runs one task. What it throws ends the batch. */
  run(
    task: BatchTask,
    call: { readonly signal: AbortSignal; readonly line: number },
  ): Promise<TaskResult>;
  /** Takes one line; resolves when there is room for the next. */
  write(line: string): Promise<void>;
  onProgress?(progress: BatchProgress): void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the tasks of a file, several at a time, and writes a line for each in the order of the file. Whatever is slow
 * sets the pace: no task is started as long as too many results wait for an earlier one, or for the reader.
 */
export async function runBatch(options: BatchOptions): Promise<BatchProgress> {
  const batch = new Batch(options);
  try {
    for await (const line of readLines(options.input, MAX_LINE_BYTES)) {
      if (options.signal?.aborted) break;
      if (line.text?.trim() === '') continue;
      await batch.start(parseTask(line), line.number);
    }
    return await batch.finish();
  } catch (error) {
    await batch.stop();
    throw error;
  }
}

class Batch {
  readonly #options: BatchOptions;
  readonly #stopping = new AbortController();
  readonly #signal: AbortSignal;
  /** Of tasks that have been started and not been written yet, in their order. */
  readonly #waiting: Promise<string>[] = [];
  /** All that have not ended, written or not. */
  readonly #open = new Set<Promise<unknown>>();
  #writing: Promise<void> | undefined;
  #failure: unknown;
  #running = 0;
  #done = 0;
  #failed = 0;
  #wake: (() => void) | undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#signal = options.signal
      ? AbortSignal.any([options.signal, this.#stopping.signal])
      : this.#stopping.signal;
  }

  /** Resolves when the next task may be started. */
  async start(task: BatchTask | TaskProblem, line: number): Promise<void> {
    const { parallel } = this.#options;
    while (this.#running >= parallel || this.#waiting.length >= parallel * WINDOW)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== undefined) throw this.#failure;
    const result = this.#run(task, line);
    const ended = result.catch((error: unknown) => this.#fail(error));
    this.#open.add(ended);
    void ended.finally(() => this.#open.delete(ended));
    this.#waiting.push(result);
    this.#writing ??= this.#writeAll();
  }

  async finish(): Promise<BatchProgress> {
    while (this.#writing) await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
    return this.#progress();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#open);
  }

  async #run(task: BatchTask | TaskProblem, line: number): Promise<string> {
    if (isTaskProblem(task)) {
      const { message, column, id } = task;
      const error = { code: 'input_invalid', message, line, column };
      return this.#count(line, id, { error });
    }
    this.#running += 1;
    try {
      const result = await this.#options.run(task, { signal: this.#signal, line });
      return this.#count(line, task.id, result);
    } finally {
      this.#running -= 1;
      this.#notify();
    }
  }

  #count(line: number, id: string | undefined, result: TaskResult): string {
    this.#done += 1;
    if ('error' in result || result.exit_code !== 0) this.#failed += 1;
    this.#options.onProgress?.(this.#progress());
    return `${toPrintableJson({ id: id ?? String(line), line, ...result })}\n`;
  }

  async #writeAll(): Promise<void> {
    try {
      for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
        const line = await next;
        await this.#options.write(line);
        void this.#waiting.shift();
        this.#notify();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = undefined;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stopping.abort();
    this.#waiting.length = 0;
    this.#notify();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #progress(): BatchProgress {
    return { done: this.#done, failed: this.#failed, running: this.#running };
  }
}
