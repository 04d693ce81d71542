const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Turns the signals that end a program into an abort, so that nothing is left behind. */
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
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  close(): void {
    for (const { name, handle } of this.#handlers) process.off(name, handle);
  }
}
