import type { NameTable } from '../egress.ts';

/** 198.18.0.0/15, which NAME_RANGE says as text. */
const FIRST_BYTE = 198;
const SECOND_BYTE = 18;
/** Without those that end in 0 or 255: some programs take them for networks and broadcasts. */
const USABLE = 254;
export const MAX_NAMES = 65_536;

/** Gives each name an address at its first question, in order, for the whole run. */
export class FakeAddresses implements NameTable {
  readonly #max: number;
  readonly #addresses = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(max: number = MAX_NAMES) {
    this.#max = Math.min(max, MAX_NAMES);
  }

  /** Undefined when there are too many names. */
  addressOf(name: string): string | undefined {
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    const index = this.#addresses.size;
    if (index >= this.#max) return undefined;
    const block = Math.floor(index / USABLE);
    const address = [
      FIRST_BYTE,
      SECOND_BYTE + (block >> 8),
      block & 0xff,
      1 + (index % USABLE),
    ].join('.');
    this.#addresses.set(name, address);
    this.#names.set(address, name);
    return address;
  }

  nameOf(address: string): string | undefined {
    return this.#names.get(address);
  }
}
