/** Keeps the first bytes of a stream and counts the rest, so that a flood costs no memory. */
export class OutputBuffer {
  private readonly chunks: Uint8Array[] = [];
  private readonly maxBytes: number;
  private keptBytes = 0;
  droppedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get hasDropped(): boolean {
    return this.droppedBytes > 0;
  }

  /** Returns the part that was kept. */
  add(data: Uint8Array): Uint8Array {
    const room = Math.max(0, this.maxBytes - this.keptBytes);
    // A copy: what readers hand out may be used again.
    const kept = Uint8Array.prototype.slice.call(data, 0, room);
    if (kept.length > 0) this.chunks.push(kept);
    this.keptBytes += kept.length;
    this.droppedBytes += data.length - kept.length;
    return kept;
  }

  take(): Uint8Array {
    return Buffer.concat(this.chunks);
  }
}
