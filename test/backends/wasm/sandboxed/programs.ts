import { afterAll } from 'vitest';

import type { ExecOptions, ExecResult, Sandbox } from '../../../../src/backends/sandbox.ts';
import type { SandboxSpec } from '../../../../src/backends/spec.ts';
import { createWasmBackend } from '../../../../src/backends/wasm/wasm-backend.ts';

export interface Ran extends ExecResult {
  readonly out: string;
  readonly err: string;
}

/** One sandbox for the tests of a file that ask for the same; gone when they are. */
export function useSandbox(spec: SandboxSpec = {}): {
  sandbox: () => Promise<Sandbox>;
  exec: (argv: readonly string[], options?: ExecOptions) => Promise<Ran>;
  python: (code: string, options?: ExecOptions) => Promise<Ran>;
  javascript: (code: string, options?: ExecOptions) => Promise<Ran>;
} {
  let opened: Promise<Sandbox> | undefined;
  afterAll(async () => {
    if (opened) await (await opened)[Symbol.asyncDispose]();
  });
  const sandbox = (): Promise<Sandbox> => (opened ??= createWasmBackend().create(spec));
  const exec = async (argv: readonly string[], options?: ExecOptions): Promise<Ran> => {
    const result = await (await sandbox()).exec(argv, options);
    const [out, err] = [result.stdout, result.stderr].map((data) => Buffer.from(data).toString());
    return { ...result, out: out ?? '', err: err ?? '' };
  };
  return {
    sandbox,
    exec,
    python: async (code, options) => await exec(['python3', '-c', code], options),
    javascript: async (code, options) => await exec(['node', '-e', code], options),
  };
}
