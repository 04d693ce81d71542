/** Hands out what comes, in order, to whoever waits or waits later. Ends once. */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  private readonly items: T[] = [];
  private readonly readers: ((result: IteratorResult<T>) => void)[] = [];
  private hasEnded = false;

  add(item: T): void {
    const reader = this.readers.shift();
    if (reader) reader({ done: false, value: item });
    else this.items.push(item);
  }

  end(): void {
    this.hasEnded = true;
    for (const reader of this.readers.splice(0)) reader({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<T>> {
    const item = this.items.shift();
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    if (this.hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.readers.push(resolve));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
