import { UNKNOWN_PROGRAM } from './event.ts';

export interface SocketSighting {
  /** Where it leads, and its own port. */
  readonly key: string;
  readonly program: number;
  readonly atMs: number;
}

/** Open at one time are far fewer. */
const MAX_KEYS = 1 << 16;
const MAX_OF_ONE = 8;
/** The helper and assay count from a start of their own, a moment apart. */
const BEFORE_MS = 500;
const AFTER_MS = 100;

/** Which program a connection comes from. One after another, several may have the same port. */
export class SocketTable {
  readonly #byKey = new Map<string, SocketSighting[]>();

  note(sighting: SocketSighting): void {
    const { key } = sighting;
    const known = this.#byKey.get(key) ?? [];
    // The newest last: what is given up is the oldest.
    this.#byKey.delete(key);
    this.#byKey.set(key, [...known, sighting].slice(-MAX_OF_ONE));
    if (this.#byKey.size <= MAX_KEYS) return;
    const [oldest = ''] = this.#byKey.keys();
    this.#byKey.delete(oldest);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Of the last one before `atMs`; unknown when that could be one or another. */
  find(key: string, atMs: number): number {
    const known = this.#byKey.get(key) ?? [];
    const [first] = known;
    if (!first) return UNKNOWN_PROGRAM;
    if (known.every(({ program }) => program === first.program)) return first.program;
    const earlier = known.filter((one) => one.atMs <= atMs + AFTER_MS);
    const last = earlier.at(-1) ?? first;
    const isClear = earlier.every(
      ({ program, atMs: at }) => program === last.program || at < atMs - BEFORE_MS,
    );
    return isClear ? last.program : UNKNOWN_PROGRAM;
  }
}
