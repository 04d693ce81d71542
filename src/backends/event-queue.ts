/** Hands out what was added, in order, to whoever iterates; ends when it is closed and empty. */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  readonly #readers: ((result: IteratorResult<T, undefined>) => void)[] = [];
  #isClosed = false;

  add(item: T): void {
    if (this.#isClosed) return;
    const reader = this.#readers.shift();
    if (reader) reader({ value: item, done: false });
    else this.#waiting.push(item);
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: async () => {
        const item = this.#waiting.shift();
        if (item !== undefined) return { value: item, done: false };
        if (this.#isClosed) return { value: undefined, done: true };
        return await new Promise((resolve) => this.#readers.push(resolve));
      },
    };
  }
}
