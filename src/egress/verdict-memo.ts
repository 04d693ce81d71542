const MAX_KEPT = 1024;
/** Longer than any name of a host with what belongs to it. */
const MAX_KEY_LENGTH = 400;

/** What was decided, for as long as what it depends on is the same: one connection asks the same several times. */
export class VerdictMemo {
  readonly #kept = new Map<string, unknown>();
  #basis: readonly unknown[] = [];

  /** `basis` are the things that the answer depends on, each compared by what it is. */
  get<T>(key: string, basis: readonly unknown[], make: () => T): T {
    const isSame = basis.every((one, at) => one === this.#basis[at]);
    if (!isSame || this.#kept.size >= MAX_KEPT) {
      this.#kept.clear();
      this.#basis = basis;
    }
    if (this.#kept.has(key)) return this.#kept.get(key) as T;
    const made = make();
    if (key.length <= MAX_KEY_LENGTH) this.#kept.set(key, made);
    return made;
  }
}
