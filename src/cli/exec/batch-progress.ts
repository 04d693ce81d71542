import type { BatchProgress } from '../../tool/batch.ts';

const TERMINAL_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 5000;

/** How far a batch is, on standard error: one line that changes on a terminal, a line now and then in a log. */
export class BatchProgressLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #isQuiet: boolean;
  readonly #started = performance.now();
  #last: BatchProgress = { done: 0, failed: 0, running: 0 };
  #shownAt = 0;

  constructor(stream: NodeJS.WriteStream, { isQuiet }: { readonly isQuiet: boolean }) {
    this.#stream = stream;
    this.#isQuiet = isQuiet;
  }

  update(now: BatchProgress): void {
    this.#last = now;
    const elapsed = performance.now();
    const interval = this.#stream.isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
    if (this.#isQuiet || elapsed - Math.max(this.#shownAt, this.#started) < interval) return;
    this.#shownAt = elapsed;
    this.#stream.write(this.#stream.isTTY ? `\r${this.#render()}\u001b[K` : `${this.#render()}\n`);
  }

  close(): void {
    this.#last = { ...this.#last, running: 0 };
    if (this.#isQuiet) return;
    this.#stream.write(`${this.#stream.isTTY ? '\r' : ''}${this.#render()}\n`);
  }

  #render(): string {
    const { done, failed, running } = this.#last;
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = seconds > 0 ? (done / seconds).toFixed(1) : '0';
    return `assay: ${done} tasks done, ${failed} failed, ${running} running, ${rate}/s`;
  }
}
