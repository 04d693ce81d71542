import { tmpdir } from 'node:os';
import { expect } from 'vitest';
import type { Person } from './as-user.ts';
import { Place } from './place.ts';
import { ASSAY, type Outcome, runBare, type RunOptions } from './run-assay.ts';

export interface Result {
  readonly outcome: string;
  readonly limit?: string;
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_base64?: string;
  readonly truncated: { readonly stdout: number };
  readonly denials: readonly { readonly action: string; readonly target: string }[];
  readonly files: readonly { readonly path: string; readonly change: string }[];
  readonly evidence: { readonly run_id: string; readonly code_sha256: string };
}

type ExecOptions = Partial<Omit<RunOptions, 'place' | 'command'>> & { readonly code?: string };

export function exec(
  place: Place,
  flags: readonly string[],
  options: ExecOptions = {},
): Promise<Outcome> {
  const { code, ...more } = options;
  return runBare({ place, command: [ASSAY, 'exec', ...flags], input: code ?? '', ...more });
}

export async function execJson(
  place: Place,
  flags: readonly string[],
  options: ExecOptions = {},
): Promise<Result> {
  const outcome = await exec(place, ['--json', ...flags], options);
  expect(outcome.stderr).toBe('');
  return JSON.parse(outcome.stdout) as Result;
}

export function withPlace(
  person: Person,
  body: (place: Place) => Promise<void>,
): () => Promise<void> {
  return async () => {
    using place = new Place(person, tmpdir());
    await body(place);
  };
}
