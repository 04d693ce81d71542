import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

/** A real job that an agent may be given: made from nothing, offline, the same each time. */
export interface Workload {
  readonly name: string;
  /** Programs without which it cannot run. */
  readonly tools: readonly string[];
  /** Fills an empty directory. What it writes does not depend on the day, the directory or the user. */
  prepare(dir: string): void;
  /** Runs in that directory. Also bare and as root, so it must change nothing outside of it and of its TMPDIR. */
  readonly command: readonly string[];
  /** What it needs besides the preset: directories outside that it runs programs from, files that are protected. */
  readonly grants?: { readonly exec: readonly string[]; readonly write?: readonly string[] };
  /** 0 when it is not said. */
  readonly exitCode?: number;
  /** How often it starts its programs is not the same every time. */
  readonly hasLooseStarts?: boolean;
  /** It is linked statically, so that nobody can move its calendar: it runs on this day only. */
  readonly hasOwnClock?: boolean;
  /** Sets it up once on this machine; the reason when that cannot be. */
  install?(): string | undefined;
}

/** More and larger runs, for whoever has the time. */
export const IS_FULL = process.env['ASSAY_DETERMINISM'] === 'full';

const PROJECT = join(import.meta.dirname, '../..');
export const MODULES = join(PROJECT, 'node_modules');

/**
 * Writes a tree of files from their paths and texts. One that starts like a script can be run; a path that ends in a
 * slash is an empty directory.
 */
export function writeTree(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const full = join(dir, path);
    fs.mkdirSync(path.endsWith('/') ? full : dirname(full), { recursive: true });
    if (path.endsWith('/')) continue;
    fs.writeFileSync(full, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
}

/** The numbers from 1 to `last`. */
export function count(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
