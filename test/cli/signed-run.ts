import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

export const ASSAY = join(import.meta.dirname, '../../bin/assay.js');

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program, started in a directory. */
export function assayIn(cwd: string, args: readonly string[], input?: Uint8Array): Ended {
  const { status, stdout, stderr } = spawnSync(ASSAY, args, {
    cwd,
    encoding: 'utf8',
    ...(input && { input }),
  });
  return { status, stdout, stderr };
}

/** Runs a script of the shell inside, in a directory of its own below `place`, and leaves NAME.bundle.tar.gz there. */
export function recordRun(
  place: string,
  name: string,
  { policy, script, flags = [] }: { policy: string; script: string; flags?: readonly string[] },
): string {
  const workspace = join(place, `${name}-workspace`);
  mkdirSync(join(workspace, 'out'), { recursive: true });
  writeFileSync(join(workspace, 'notes.txt'), 'hello\n');
  writeFileSync(join(workspace, 'policy.yaml'), policy);
  const bundle = join(place, `${name}.bundle.tar.gz`);
  const run = ['sandbox', '-q', '-p', 'policy.yaml', '--bundle', bundle, ...flags];
  const { status, stderr } = assayIn(workspace, [...run, '--', '/bin/sh', '-c', script]);
  if (status !== 0) throw new Error(`the run ended with ${status}: ${stderr}`);
  return bundle;
}

/** Changes the archive inside a bundle, and packs it again. */
export function alterBundle(
  from: string,
  to: string,
  alter: (tar: Buffer) => Buffer | undefined,
): void {
  const tar = gunzipSync(readFileSync(from));
  writeFileSync(to, gzipSync(alter(tar) ?? tar));
}

/** Writes the header of the first member anew: its name, or the size that it says to have. */
export function alterHeader(tar: Buffer, at: number, text: string): void {
  tar.write(text, at, 'latin1');
  tar.fill(' ', 148, 156);
  const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  tar.write(`${sum.toString(8).padStart(7, '0')}\0`, 148, 'latin1');
}
