import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SweepReport } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';
import { isOwnerGone, nameOwner } from '../owner.ts';

/** What follows it in a name says whose it is. */
export const DIRECTORY_PREFIX = 'assay-container-';
/** Each a tenth of a second longer than the one before. */
const SWEEP_RETRIES = 6;
/** Inside; see scripts/engines/image.sh. */
const CODE = '/run/assay/code';

/** What one sandbox has on the host: code for its programs to read, the socket of its door. */
export class RunDirectory {
  readonly path: string;
  /** Bound into the container, read-only. */
  readonly code: string;

  constructor() {
    // The name says whose it is, for whoever tidies up after a process that was killed.
    this.path = mkdtempSync(
      join(tmpdir(), `${DIRECTORY_PREFIX}${nameOwner().replaceAll(':', '.')}-`),
    );
    this.code = join(this.path, 'code');
    mkdirSync(this.code);
    chmodSync(this.code, 0o755);
  }

  async putCode(name: string, code: Uint8Array): Promise<string> {
    const steps = name.split('/');
    if (name.includes('\0') || steps.some((step) => step === '' || step === '.' || step === '..'))
      throw new SandboxError('path_invalid', `Cannot put code at ${JSON.stringify(name)}`);
    const place = join(this.code, name);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    // Aside first: what runs at the moment keeps what it has read.
    const partial = join(this.path, `new-${process.hrtime.bigint()}`);
    await writeFile(partial, code);
    await chmod(partial, 0o444);
    await rename(partial, place);
    return `${CODE}/${name}`;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** Whether the process that made something of this name is gone. */
export function isLeftBehind(name: string): boolean {
  const owner = name.slice(DIRECTORY_PREFIX.length, name.lastIndexOf('-')).replaceAll('.', ':');
  return isOwnerGone(owner);
}

/** Those of others are theirs to remove, but for root. */
function mayRemove(path: string): boolean {
  const uid = process.getuid?.();
  return uid === 0 || lstatSync(path, { throwIfNoEntry: false })?.uid === uid;
}

/** Removes what processes that are gone have left. What they had started may still write there, and has a moment to end. */
export async function sweepDirectories(): Promise<SweepReport> {
  const report = { removed: [] as string[], problems: [] as string[] };
  const left = readdirSync(tmpdir())
    .filter((name) => name.startsWith(DIRECTORY_PREFIX) && isLeftBehind(name))
    .map((name) => join(tmpdir(), name))
    .filter(mayRemove);
  for (const path of left) {
    try {
      await rm(path, { recursive: true, force: true, maxRetries: SWEEP_RETRIES });
      report.removed.push(path);
    } catch (error) {
      report.problems.push(`${path}: ${(error as Error).message}`);
    }
  }
  return report;
}
