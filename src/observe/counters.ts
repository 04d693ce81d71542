import type { EventLine, LineOp } from './decode-line.ts';
import { countOf } from './plural.ts';

/** What a person wants to see while a program runs. */
export interface Counters {
  readonly filesWritten: number;
  readonly programs: number;
  readonly endpoints: number;
  readonly refused: number;
}

const WRITES: ReadonlySet<LineOp> = new Set<LineOp>(['write', 'create', 'truncate']);

const MAX_NAMES = 1 << 19;

/** Counts events at their first sighting. */
export class EventCounter {
  /** Hashes of paths and addresses: one file is often written by several programs. */
  #names = new Uint32Array(1024);
  #nameCount = 0;
  filesWritten = 0;
  endpoints = 0;
  refused = 0;

  count(line: EventLine): void {
    if (line.rule !== 0) this.refused += 1;
    else if (line.errno !== 0) return;
    else if (WRITES.has(line.op) && this.#isNew(`w${line.path}`)) this.filesWritten += 1;
    else if (line.op === 'connect' && this.#isNew(`c${line.path}`)) this.endpoints += 1;
  }

  #isNew(name: string): boolean {
    let hash = 0x811c9dc5;
    for (let at = 0; at < name.length; at++) {
      hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
      hash ^= hash >>> 15;
    }
    return this.#insert(hash >>> 0 || 1);
  }

  #insert(hash: number): boolean {
    const mask = this.#names.length - 1;
    let slot = hash & mask;
    for (; this.#names[slot]; slot = (slot + 1) & mask)
      if (this.#names[slot] === hash) return false;
    // Beyond that many, each counts.
    if (this.#nameCount >= MAX_NAMES) return true;
    this.#names[slot] = hash;
    this.#nameCount += 1;
    if (this.#nameCount * 2 > this.#names.length) this.#grow();
    return true;
  }

  #grow(): void {
    const old = this.#names;
    this.#names = new Uint32Array(old.length * 2);
    const mask = this.#names.length - 1;
    for (const hash of old) {
      if (!hash) continue;
      let slot = hash & mask;
      while (this.#names[slot]) slot = (slot + 1) & mask;
      this.#names[slot] = hash;
    }
  }
}

/** `42 files written · 7 programs · 3 refused` */
export function describeCounters(counters: Counters): string {
  const parts = [`${countOf(counters.filesWritten, 'file')} written`];
  parts.push(countOf(counters.programs, 'program'));
  if (counters.endpoints > 0) parts.push(countOf(counters.endpoints, 'endpoint'));
  if (counters.refused > 0) parts.push(`${counters.refused} refused`);
  return parts.join(' · ');
}
