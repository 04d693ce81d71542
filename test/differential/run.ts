import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';

import { describeTree } from './tree.ts';
import type { Outcome, Runner, Workload } from './workload.ts';
import type { Workspace } from './workspace.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');
const DRIVER = join(import.meta.dirname, 'workloads/terminal-driver.py');
const NODE_DIR = dirname(process.execPath);
const PATH = `${NODE_DIR}:/usr/local/bin:/usr/bin:/bin`;
const LONGEST_RUN_MS = 60_000;

export type Place = 'bare' | 'inside';

interface RunOptions {
  readonly workload: Workload;
  readonly workspace: Workspace;
  readonly runner: Runner;
  readonly place: Place;
}

/** Runs the workload in a fresh workspace and tells all that came of it. */
export async function runWorkload(options: RunOptions): Promise<Outcome> {
  const { workload, workspace } = options;
  workspace.fill(workload.files);
  const words = [...becomeRunner(options), ...wrap(options)];
  const child = spawn(words[0] ?? '', words.slice(1), {
    cwd: workspace.work,
    env: makeEnvironment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const leash = setTimeout(() => {
    if (child.pid !== undefined) killGroup(child.pid);
  }, LONGEST_RUN_MS);
  const [stdout, stderr, exit] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    new Promise<string>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(signal ?? `exit ${code}`));
    }),
  ]).finally(() => clearTimeout(leash));
  return {
    exit,
    stdout: normalise(stdout, options),
    stderr: normalise(stderr, options),
    tree: describeTree({ root: workspace.work, volatileFiles: workload.volatileFiles }),
  };
}

/** The words that make the rest run as the runner; bare root gives up what root has not got inside either. */
function becomeRunner({ runner, place }: RunOptions): string[] {
  if (process.getuid?.() !== 0) return [];
  if (runner.name === 'user') {
    return ['setpriv', `--reuid=${runner.uid}`, `--regid=${runner.gid}`, '--clear-groups'];
  }
  if (place === 'inside') return [];
  return ['setpriv', '--clear-groups', '--bounding-set=-all', '--inh-caps=-all'];
}

const SANDBOX = [process.execPath, ASSAY, 'sandbox', '--preset', 'coding-agent', '-q'];
/** With ASSAY_DIFFERENTIAL=recorded every workload is recorded as well, which puts every open through the broker. */
const RECORD = process.env['ASSAY_DIFFERENTIAL'] === 'recorded' ? ['--observe', 'all'] : [];

function enterSandbox(workload: Workload): string[] {
  const isRecorded = workload.isRecorded === true;
  return [...SANDBOX, ...(isRecorded ? ['--observe', 'all'] : RECORD), '--'];
}

function wrap({ workload, place }: RunOptions): string[] {
  const isWrapped = place === 'inside' && workload.isOuter !== true;
  const command = isWrapped
    ? [...enterSandbox(workload), ...workload.command]
    : [...workload.command];
  if (workload.dialogue === undefined) return command;
  return ['python3', DRIVER, workload.dialogue, '--', ...command];
}

/** What assay gives to the program, so that only the boundary differs. */
function makeEnvironment({ workload, workspace, place }: RunOptions): NodeJS.ProcessEnv {
  const own = {
    PATH,
    HOME: workspace.home,
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    TZ: 'UTC',
    SHELL: '/bin/bash',
  };
  if (place === 'inside') {
    return workload.isOuter === true ? { ...own, RUN: enterSandbox(workload).join(' ') } : own;
  }
  const { tmp } = workspace;
  return { ...own, RUN: '', TMPDIR: tmp, TMP: tmp, TEMP: tmp, GIT_TEMPLATE_DIR: '' };
}

function normalise(text: string, { workload, workspace }: RunOptions): string[] {
  let result = text
    .replaceAll(/\/tmp\/assay-\d+-\d+(?!\d)/g, '$TMPDIR')
    .replaceAll(workspace.tmp, '$TMPDIR')
    .replaceAll(workspace.base, '$BASE');
  for (const [pattern, replacement] of workload.volatileText ?? []) {
    result = result.replaceAll(pattern, replacement);
  }
  return result.split('\n');
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('latin1');
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/** The first program of the list that cannot be found, if any. */
export function findMissingTool(tools: readonly string[]): string | undefined {
  return tools.find(
    (tool) =>
      spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', tool], { env: { PATH } }).status !== 0,
  );
}
