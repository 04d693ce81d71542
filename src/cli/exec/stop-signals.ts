import { writeAtPaceOfReader } from '../standard-output.ts';

const SIGPIPE_CODE = 141;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Turns what ends a program from outside, signals or a reader that has gone, into an abort: nothing is left then. */
export class StopSignals {
  readonly #abort = new AbortController();
  readonly #handlers = Object.entries(SIGNALS).map(([name, code]) => ({
    name: name as keyof typeof SIGNALS,
    handle: (): void => {
      this.exitCode ??= code;
      this.#abort.abort();
    },
  }));
  /** Once one has come. */
  exitCode: number | undefined;

  constructor() {
    for (const { name, handle } of this.#handlers) process.on(name, handle);
    writeAtPaceOfReader(() => {
      this.exitCode ??= SIGPIPE_CODE;
      this.#abort.abort();
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  close(): void {
    for (const { name, handle } of this.#handlers) process.off(name, handle);
  }
}
