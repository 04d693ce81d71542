import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Place } from './place.ts';

export const ASSAY = join(import.meta.dirname, '../../bin/assay.js');
const FIXTURES = join(import.meta.dirname, '../fixtures');
const NODE_DIR = dirname(process.execPath);
/** A run that hangs is ended and fails its test; no test waits for it. */
const LEASH_MS = 40_000;

export const PYTHON = '/usr/bin/python3';

/** The text of a fixture program, for `python3 -c` and `node -e`: inside, the project itself is out of sight. */
export function fixture(name: string): string {
  return readFileSync(join(FIXTURES, name), 'utf8');
}

export function fixturePath(name: string): string {
  return join(FIXTURES, name);
}

export interface RunOptions {
  readonly place: Place;
  readonly flags?: readonly string[];
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to standard input, which is then closed. Without it, standard input is /dev/null. */
  readonly input?: string | Uint8Array;
  /** Descriptors from 3 on. */
  readonly extra?: readonly number[];
  readonly assay?: string;
  /** Called with everything printed so far, after each piece of output. */
  readonly onOutput?: (text: string, child: ChildProcess) => void;
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly pid: number;
}

export function makeEnv(place: Place, extra: RunOptions['env'] = {}): NodeJS.ProcessEnv {
  return {
    PATH: `${NODE_DIR}:/usr/bin:/bin`,
    HOME: place.home,
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    ...extra,
  };
}

/** Any command as the person of the place, from its workspace. */
export async function runBare(options: RunOptions): Promise<Outcome> {
  const { place, command, input, extra = [] } = options;
  const words = [...place.person.prefix, ...command];
  const child = spawn(words[0] ?? '', words.slice(1), {
    cwd: options.cwd ?? place.work,
    env: makeEnv(place, options.env),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...extra],
  });
  const leash = setTimeout(() => child.kill('SIGKILL'), LEASH_MS);
  let stdout = '';
  let stderr = '';
  const heed = (): void => options.onOutput?.(stdout, child);
  child.stdout?.setEncoding('latin1').on('data', (text: string) => {
    stdout += text;
    heed();
  });
  child.stderr?.setEncoding('latin1').on('data', (text: string) => (stderr += text));
  child.stdin?.on('error', () => undefined); // the program need not read all of it
  child.stdin?.end(input);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
    (resolve, reject) => {
      child.on('error', reject);
      child.on('close', (...end) => resolve(end));
    },
  ).finally(() => clearTimeout(leash));
  const decode = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');
  return { code, signal, stdout: decode(stdout), stderr: decode(stderr), pid: child.pid ?? 0 };
}

/** `assay sandbox FLAGS -- COMMAND`. */
export function runAssay(options: RunOptions): Promise<Outcome> {
  const { assay = ASSAY, flags = [], command } = options;
  return runBare({ ...options, command: [assay, 'sandbox', ...flags, '--', ...command] });
}

/** A shell script inside, without the banner. */
export function runScript(
  place: Place,
  script: string,
  options: Partial<RunOptions> = {},
): Promise<Outcome> {
  const flags = ['--quiet', ...(options.flags ?? [])];
  return runAssay({ ...options, place, flags, command: ['/bin/sh', '-c', script] });
}

export interface Summary {
  readonly exitCode: number;
  readonly signal: number;
  readonly timedOut: boolean;
  readonly limit: string | null;
  readonly mode: string;
  readonly network: string;
  readonly layers: readonly { layer: string; status: string; reason: string }[];
  readonly degradations: readonly { rule: string; reason: string }[];
  readonly notes: readonly string[];
  readonly limits: readonly { limit: string; value: number; strength: string; how: string }[];
  readonly environment: { passed: string[]; scrubbed: string[]; stripped: string[] };
  readonly refusalCount: number;
  readonly refusals: readonly { op: string; path: string; allowWith: string | null }[];
  readonly setAside: readonly { path: string; movedTo: string; because: string }[];
}

/** The summary is the last line; what happened stands before it. */
export function readSummary(lines: string): Summary {
  return JSON.parse(lines.trimEnd().split('\n').at(-1) ?? '') as Summary;
}

/** Runs with `--json` to a file beside the workspace and returns that, too. */
export async function runForSummary(
  options: RunOptions,
): Promise<{ outcome: Outcome; summary: Summary }> {
  const file = options.place.at('summary.json');
  const flags = ['--quiet', '--json', file, ...(options.flags ?? [])];
  const outcome = await runAssay({ ...options, flags });
  if (!existsSync(file)) throw new Error(`No summary was written: ${outcome.stderr}`);
  return { outcome, summary: readSummary(readFileSync(file, 'utf8')) };
}
