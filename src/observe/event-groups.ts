import type { LineOp } from './decode-line.ts';

/** What events are taken together by, when there are too many: a directory, and who did what there with which end. */
export interface Group {
  readonly op: LineOp;
  readonly directory: string;
  readonly errno: number;
  readonly program: number;
}

/** How coarse groups are: how many names of a directory tell them apart, and whether programs do. */
export interface Grain {
  readonly depth: number;
  readonly isByProgram: boolean;
}

/** Takes anything together, so that there are never too many. */
export const COARSEST: Grain = { depth: 0, isByProgram: false };

/** From the finest on. */
export const GRAINS: readonly Grain[] = [
  ...[Infinity, 16, 8, 4, 2, 1, 0].map((depth) => ({ depth, isByProgram: true })),
  COARSEST,
];

export interface Grouped {
  readonly op: LineOp;
  readonly path: string;
  readonly errno: number;
  readonly program: number;
}

export function groupOf(event: Grouped, grain: Grain): Group {
  return {
    op: event.op,
    directory: directoryOf(event.path, grain.depth),
    errno: event.errno,
    // Whoever it was, the first program led to it.
    program: grain.isByProgram ? event.program : 1,
  };
}

/** The directory of a path, or of an address such as `tcp:127.0.0.1:80` the part before the port. */
function directoryOf(path: string, depth: number): string {
  const isPath = path.startsWith('/');
  let end = 0;
  // An address keeps its family in any case.
  for (let at = 1, names = isPath ? 0 : -1; at < path.length && names < depth; at++) {
    const code = path.charCodeAt(at);
    if (code !== SLASH && (isPath || code !== COLON)) continue;
    end = at;
    names += 1;
  }
  return path.slice(0, end) || '/';
}

const SLASH = 0x2f;
const COLON = 0x3a;

/** The same as bytes: where the directory ends. */
export function endOfDirectory(bytes: Buffer, start: number, end: number, depth: number): number {
  const isPath = bytes[start] === SLASH;
  let last = start;
  for (let at = start + 1, names = isPath ? 0 : -1; at < end && names < depth; at++) {
    if (bytes[at] !== SLASH && (isPath || bytes[at] !== COLON)) continue;
    last = at;
    names += 1;
  }
  return last;
}

export function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export function hashBytes(seed: number, bytes: Buffer, start: number, end: number): number {
  let hash = seed | 0;
  for (let at = start; at < end; at++) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    hash ^= hash >>> 13;
  }
  return mix(hash, end - start);
}
