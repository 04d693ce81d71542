const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Signals that would end assay have no effect on it once it has a record to write: whoever wants the run to stop has got
 * that, and still gets the record. Until the program has ended, the launcher passes them on.
 */
export class SignalHold {
  #isHeld = false;

  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    for (const name of ENDING) process.on(name, () => undefined);
  }
}
