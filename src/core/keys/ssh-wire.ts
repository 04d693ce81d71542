/** Reads the strings and numbers of RFC 4251, section 5, and never past the end. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  readNumber(): number {
    return this.#take(4).readUInt32BE();
  }

  readBytes(): Buffer {
    return this.#take(this.readNumber());
  }

  readText(): string {
    return this.readBytes().toString('latin1');
  }

  readRest(): Buffer {
    return this.#take(this.#bytes.length - this.#at);
  }

  #take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new RangeError('it is cut off');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
