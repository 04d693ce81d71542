import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';

import { ASSAY } from '../e2e/run-assay.ts';
import type { Clock } from './clock.ts';
import { type Copy, POLICY_FILE } from './copy.ts';
import type { Workload } from './workload.ts';

const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
const LEASH_MS = 120_000;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly copy: Copy;
  readonly workload: Pick<Workload, 'command' | 'grants'>;
  readonly clock?: Clock | undefined;
}

/** Outside of any sandbox, with what assay would put into the environment; `prefix` goes before the command. */
export function runBare(
  { copy, workload, clock }: RunOptions,
  prefix: readonly string[] = [],
): Promise<Outcome> {
  const { command } = workload;
  const { tmp } = copy;
  const inside = { TMPDIR: tmp, TMP: tmp, TEMP: tmp, GIT_TEMPLATE_DIR: '' };
  return start(copy, [...prefix, ...(clock?.wrap(command) ?? command)], inside);
}

/** `assay sandbox FLAGS -- COMMAND` in the workspace. */
export function runInside(
  { copy, workload, clock }: RunOptions,
  flags: readonly string[],
): Promise<Outcome> {
  const { command } = workload;
  const words = [ASSAY, 'sandbox', '--quiet', ...flags, '--'];
  return start(copy, [...words, ...(clock?.wrap(command) ?? command)], clock?.variables ?? {});
}

/** The flags for a policy that lets the workload do its job, and not much more. */
export function choosePolicy({ copy, workload }: RunOptions): string[] {
  if (workload.grants === undefined) return ['--preset', 'coding-agent'];
  return ['--policy', join(copy.work, POLICY_FILE)];
}

async function start(
  copy: Copy,
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const [program = '', ...args] = [...copy.place.person.prefix, ...words];
  const child = spawn(program, args, {
    cwd: copy.work,
    env: {
      PATH,
      HOME: copy.place.home,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      GIT_CONFIG_NOSYSTEM: '1',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const leash = setTimeout(() => endGroup(child.pid), LEASH_MS);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? -1));
  }).finally(() => clearTimeout(leash));
  return { code, stdout, stderr };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
