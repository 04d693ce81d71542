import type { LimitName } from '../../backend.ts';
import { FileError } from './errno.ts';

export interface SpaceLimits {
  readonly diskBytes: number;
  readonly inodes: number;
}

/** What all files together take up. Runs ask which of the limits they ran into. */
export class Space {
  usedBytes = 0;
  usedInodes = 0;
  private readonly limits: SpaceLimits;
  private readonly watchers = new Set<(limit: LimitName) => void>();

  constructor(limits: SpaceLimits) {
    this.limits = limits;
  }

  watch(onReached: (limit: LimitName) => void): () => void {
    this.watchers.add(onReached);
    return () => void this.watchers.delete(onReached);
  }

  private refuse(limit: LimitName): never {
    for (const tell of this.watchers) tell(limit);
    throw new FileError('NOSPC');
  }

  /** How many of `bytes` more there is room for; none is refused. */
  takeSome(bytes: number): number {
    const room = this.limits.diskBytes - this.usedBytes;
    if (bytes > 0 && room <= 0) this.refuse('diskBytes');
    const taken = Math.min(bytes, room);
    if (taken < bytes) for (const tell of this.watchers) tell('diskBytes');
    this.usedBytes += taken;
    return taken;
  }

  takeAll(bytes: number): void {
    if (this.usedBytes + bytes > this.limits.diskBytes) this.refuse('diskBytes');
    this.usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.usedBytes -= bytes;
  }

  takeInode(): void {
    if (this.usedInodes >= this.limits.inodes) this.refuse('inodes');
    this.usedInodes += 1;
  }

  giveInodeBack(): void {
    this.usedInodes -= 1;
  }
}
