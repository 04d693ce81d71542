import { FileError } from './errno.ts';

const MAX_VECTORS = 1024;

/** The memory of an engine, of whose every address and length it is taken that the program inside has made them up. */
export class GuestMemory {
  private memory: WebAssembly.Memory | undefined;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  attach(memory: WebAssembly.Memory): void {
    this.memory = memory;
  }

  get sizeBytes(): number {
    return this.memory?.buffer.byteLength ?? 0;
  }

  private get buffer(): ArrayBuffer {
    if (!this.memory) throw new FileError('FAULT');
    return this.memory.buffer;
  }

  /** Made anew each time: growing the memory takes the old view away. */
  view(pointer: number, length: number): DataView {
    const { buffer } = this;
    const start = pointer >>> 0;
    if (start + length > buffer.byteLength) throw new FileError('FAULT');
    return new DataView(buffer, start, length);
  }

  bytes(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    const { buffer } = this;
    const start = pointer >>> 0;
    const count = length >>> 0;
    if (start + count > buffer.byteLength) throw new FileError('FAULT');
    return new Uint8Array(buffer, start, count);
  }

  text(pointer: number, length: number): string {
    const bytes = this.bytes(pointer, length);
    try {
      return this.decoder.decode(bytes);
    } catch {
      throw new FileError('ILSEQ'); // names that are no text there are none of
    }
  }

  setUint32(pointer: number, value: number): void {
    this.view(pointer, 4).setUint32(0, value, true);
  }

  setUint64(pointer: number, value: bigint): void {
    this.view(pointer, 8).setBigUint64(0, value, true);
  }

  /** The pieces that a scattered read or write names. */
  vectors(pointer: number, count: number): Uint8Array<ArrayBuffer>[] {
    if (count >>> 0 > MAX_VECTORS) throw new FileError('INVAL');
    const list = this.view(pointer, (count >>> 0) * 8);
    return Array.from({ length: count >>> 0 }, (_, index) =>
      this.bytes(list.getUint32(index * 8, true), list.getUint32(index * 8 + 4, true)),
    );
  }
}

/** Of 64 bits, what fits a number; nothing here is longer. */
export function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new FileError('INVAL');
  return number;
}
