import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findEngineFile } from '../engines-dir.ts';
import { messageOf } from '../docker/engine.ts';

/** The program itself, without an engine around it. */
export interface Runsc {
  readonly path: string;
  readonly version: string;
  /** Flags before the command. */
  readonly flags: readonly string[];
  /** Then it has control groups, and all users. */
  readonly isRoot: boolean;
  readonly rootfs: string;
}

export type FoundRunsc = Runsc | { readonly problem: string; readonly hint: string };

const run = promisify(execFile);
const TRIAL_MS = 20_000;

/** Whatever /dev/kvm promises: where it does not work, runsc hangs. ptrace works wherever one process may trace another. */
const FLAGS = ['--platform=ptrace', '--network=none'];

function findProgram(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .concat('/usr/bin', '/usr/local/bin')
    .map((folder) => join(folder, 'runsc'))
    .find((path) => existsSync(path));
}

/** Finds it and lets it run something, since nothing else shows that it can. */
export async function findRunsc(): Promise<FoundRunsc> {
  const path = findProgram();
  const hint = 'npm run engines, as root';
  if (path === undefined) return { problem: 'runsc is not installed', hint };
  const rootfs = findEngineFile('image/rootfs');
  if (rootfs === undefined)
    return { problem: 'the root file system of containers was not made', hint };
  const isRoot = process.getuid?.() === 0;
  const flags = [...FLAGS, ...(isRoot ? [] : ['--rootless', '--ignore-cgroups'])];
  try {
    const { stdout } = await run(path, ['--version'], { timeout: TRIAL_MS });
    await run(path, [...flags, ...(isRoot ? ['--ignore-cgroups'] : []), 'do', '/bin/true'], {
      timeout: TRIAL_MS,
      killSignal: 'SIGKILL',
    });
    const version = /version (\S+)/.exec(stdout)?.[1] ?? 'of unknown version';
    return { path, version, flags, isRoot, rootfs };
  } catch (error) {
    return {
      problem: `runsc cannot run anything here: ${messageOf(error).split('\n').slice(0, 3).join(' ')}`,
      hint: 'It needs ptrace, and user namespaces unless it is root',
    };
  }
}
