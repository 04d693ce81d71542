import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ValueSource } from './values.ts';

export interface CommandLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export const COMMAND_LIMITS: CommandLimits = { timeoutMs: 30_000, maxBytes: 16_384 };

export type CommandEnd = { readonly output: string } | { readonly problem: string };

/**
 * Runs a program of the host outside the sandbox, without a shell, and takes what it prints. What it says on standard
 * error is dropped, since it may hold the value.
 */
export async function runValueCommand(
  [name = '', ...args]: readonly string[],
  { env, canProgramWrite, limits }: ValueSource,
): Promise<CommandEnd> {
  const file = findProgram(name, env['PATH'] ?? '');
  if (file === undefined)
    return {
      problem:
        name.includes('/') && !isAbsolute(name)
          ? 'is named by a relative path: write its whole path, or a name to be found in PATH'
          : 'is not a program that can be found',
    };
  // What the program inside has written would run outside.
  if (canProgramWrite(file) || canProgramWrite(realpathSync(file)))
    return { problem: 'may be written by the program inside' };
  const { timeoutMs, maxBytes } = { ...COMMAND_LIMITS, ...limits };
  // Its own group, so that all of it can be ended.
  const child = spawn(file, args, {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  return await collect(child, { timeoutMs, maxBytes });
}

async function collect(
  child: ChildProcess,
  { timeoutMs, maxBytes }: CommandLimits,
): Promise<CommandEnd> {
  const parts: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    const settle = (end: CommandEnd): void => {
      clearTimeout(timer);
      child.stdout?.destroy();
      if ('problem' in end) endGroup(child);
      resolve(end);
    };
    const timer = setTimeout(
      () => settle({ problem: `has not ended within ${timeoutMs / 1000} s` }),
      timeoutMs,
    );
    child.on('error', (error: NodeJS.ErrnoException) =>
      settle({ problem: `cannot be run: ${error.code ?? 'unknown'}` }),
    );
    child.stdout?.on('data', (part: Buffer) => {
      parts.push(part);
      size += part.length;
      if (size > maxBytes) settle({ problem: `prints more than ${maxBytes} bytes` });
    });
    child.on('close', (code, signal) => {
      if (code === 0) settle({ output: Buffer.concat(parts).toString('utf8') });
      else settle({ problem: signal ? `was ended by ${signal}` : `has ended with code ${code}` });
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended, and all that it started
  }
}

/** Relative places are where the program works, inside. */
function findProgram(name: string, path: string): string | undefined {
  if (name.includes('/')) return isAbsolute(name) ? toExecutable(name) : undefined;
  for (const dir of path.split(':')) {
    const found = isAbsolute(dir) ? toExecutable(join(dir, name)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function toExecutable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}
