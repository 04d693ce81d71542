import { closeSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { type Outcome, runBare, type RunOptions } from './run.ts';

/** What came to run: the image, and the script that named it as its interpreter. */
export interface TracedProgram {
  readonly image: string;
  readonly script?: string | undefined;
}

export interface TracedRun {
  readonly outcome: Outcome;
  /** One for each successful start. */
  readonly programs: readonly TracedProgram[];
  /** What was started and was gone afterwards, so that nobody can tell what it was. */
  readonly vanished: readonly string[];
}

const CALLS = 'execve,execveat,chdir,fchdir,clone,clone3,fork,vfork';

/** Runs bare, with strace as the witness of what is executed. */
export async function runTraced(options: RunOptions): Promise<TracedRun> {
  const { copy } = options;
  const log = join(copy.out, 'strace.log');
  const prefix = ['strace', '-f', '-qq', '-y', '-s', '4096', '-e', `trace=${CALLS}`, '-o', log];
  const outcome = await runBare(options, [...prefix, '-e', 'signal=none']);
  const started = listStarts(readFileSync(log, 'latin1'), copy.work);
  const programs: TracedProgram[] = [];
  const vanished: string[] = [];
  for (const path of started) {
    const program = identify(path);
    if (program === undefined) vanished.push(path);
    else programs.push(program);
  }
  return { outcome, programs, vanished };
}

/**
 * The path of every successful execve in the log of `strace -f -y`, made absolute: a relative one is looked up in
 * the directory of its process, which it has from the process that made it unless it went elsewhere since.
 */
export function listStarts(log: string, work: string): string[] {
  const processes = new Map<number, { readonly cwd: string; readonly image: string }>();
  const found: string[] = [];
  for (const { pid, call, args, result } of joinInterrupted(log)) {
    const self = processes.get(pid) ?? { cwd: work, image: '' };
    if (result === undefined || result < 0) continue;
    if (call === 'execve' || call === 'execveat') {
      const directory = call === 'execve' ? self.cwd : decodeDirectory(args, self.cwd);
      const path = absolute(decodeText(args), directory);
      const image = path === '/proc/self/exe' ? self.image : path;
      found.push(image);
      processes.set(pid, { ...self, image });
    } else if (call === 'chdir')
      processes.set(pid, { ...self, cwd: absolute(decodeText(args), self.cwd) });
    else if (call === 'fchdir')
      processes.set(pid, { ...self, cwd: decodeDirectory(args, self.cwd) });
    else processes.set(result, self);
  }
  return found;
}

interface TracedCall {
  readonly pid: number;
  readonly call: string;
  readonly args: string;
  result: number | undefined;
}

/** Calls in the order in which they began; one that was interrupted by lines of others gets its result from later on. */
function joinInterrupted(log: string): TracedCall[] {
  const calls: TracedCall[] = [];
  const open = new Map<string, TracedCall>();
  for (const line of log.split('\n')) {
    const match = /^(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>(.*)|\((.*))$/.exec(line);
    if (match === null) continue;
    const [, pid = '', call = '', resumed, begun] = match;
    const key = `${pid} ${call}`;
    const result = readResult(line);
    if (begun === undefined) {
      const earlier = open.get(key);
      if (earlier !== undefined) earlier.result = result;
      if (resumed !== undefined) open.delete(key);
      continue;
    }
    const made: TracedCall = { pid: Number(pid), call, args: begun, result };
    calls.push(made);
    if (begun.endsWith('<unfinished ...>')) open.set(key, made);
  }
  return calls;
}

function readResult(line: string): number | undefined {
  const result = / = (-?\d+)(?:<.*>)?(?: E[A-Z]+ \(.*\))?$/.exec(line)?.[1];
  return result === undefined ? undefined : Number(result);
}

/** The first quoted text of the arguments; strace escapes as C does. */
function decodeText(args: string): string {
  const quoted = /"((?:[^"\\]|\\.)*)"/.exec(args)?.[1] ?? '';
  const plain = quoted.replaceAll(/\\([0-7]{1,3}|.)/g, (_, escaped: string) =>
    /^[0-7]/.test(escaped)
      ? String.fromCodePoint(Number.parseInt(escaped, 8))
      : ({ n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' }[escaped] ?? escaped),
  );
  return Buffer.from(plain, 'latin1').toString('utf8');
}

/** What `-y` writes behind a descriptor. */
function decodeDirectory(args: string, cwd: string): string {
  return /^(?:\d+|AT_FDCWD)<([^>]*)>/.exec(args)?.[1] ?? cwd;
}

function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : path === '' ? cwd : join(cwd, path);
}

/** Follows links and interpreters as the kernel does. */
function identify(path: string): TracedProgram | undefined {
  try {
    const real = realpathSync(path);
    const interpreter = readInterpreter(real);
    if (interpreter === undefined) return { image: real };
    const inner = identify(interpreter);
    return inner && { image: inner.image, script: real };
  } catch {
    return undefined;
  }
}

function readInterpreter(file: string): string | undefined {
  const fd = openSync(file, 'r');
  try {
    const start = Buffer.alloc(256);
    const text = start.subarray(0, readSync(fd, start)).toString('latin1');
    return /^#![ \t]*([^ \t\n]+)/.exec(text)?.[1];
  } finally {
    closeSync(fd);
  }
}
