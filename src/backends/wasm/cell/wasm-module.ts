const PAGE_BYTES = 65_536;
const PREAMBLE_BYTES = 8;
const CUSTOM = 0;
const MEMORY = 5;
/** What 32-bit addresses reach. */
const MAX_PAGES = 65_536;

function readLeb(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  let next = at;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[next] ?? 0;
    next += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if (!(byte & 0x80)) return { value, next };
  }
}

function encodeLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}

function capMemorySection(bytes: Uint8Array, at: number, maxPages: number): Uint8Array {
  const count = readLeb(bytes, at);
  const flags = readLeb(bytes, count.next);
  const least = readLeb(bytes, flags.next);
  if (count.value !== 1 || flags.value > 1)
    throw new Error('An engine with this kind of memory is not known');
  if (least.value > maxPages) throw new Error('The engine does not start with so little memory');
  const body = [1, 1, ...encodeLeb(least.value), ...encodeLeb(Math.min(maxPages, MAX_PAGES))];
  return Uint8Array.from([MEMORY, ...encodeLeb(body.length), ...body]);
}

export interface CappedModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How far its memory can grow: the engine refuses the next page. */
  readonly maxMemoryBytes: number;
}

/** Gives a module's own memory an end, and leaves out what is for debuggers, which is half of it. */
export function capMemory(bytes: Uint8Array, memoryBytes: number): CappedModule {
  const maxPages = Math.max(1, Math.floor(memoryBytes / PAGE_BYTES));
  const parts = [bytes.subarray(0, PREAMBLE_BYTES)];
  let hasMemory = false;
  for (let at = PREAMBLE_BYTES; at < bytes.length;) {
    const length = readLeb(bytes, at + 1);
    const end = length.next + length.value;
    if (bytes[at] === MEMORY) {
      hasMemory = true;
      parts.push(capMemorySection(bytes, length.next, maxPages));
    } else if (bytes[at] !== CUSTOM) parts.push(bytes.subarray(at, end));
    at = end;
  }
  if (!hasMemory) throw new Error('The engine has no memory of its own to limit');
  return { bytes: concat(parts), maxMemoryBytes: maxPages * PAGE_BYTES };
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
