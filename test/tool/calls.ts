import { SandboxError } from '../../src/backends/sandbox-error.ts';
import type { CodeInput } from '../../src/tool/code-input.ts';

export const PYTHON = { language: 'python', code: 'print(1)' } as const satisfies CodeInput;

export const text = (value: string): Uint8Array => Buffer.from(value);

/** What a call that must fail fails with. */
export async function refusal(promise: Promise<unknown>): Promise<SandboxError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!SandboxError.is(error)) throw new Error(`expected a SandboxError, not ${String(error)}`);
  return error;
}
