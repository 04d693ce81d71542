import { decodeName } from '../core/name-bytes.ts';
import { type Hide, makeHide } from '../core/known-secrets.ts';
import { redactPath } from '../core/redact.ts';
import { isHarmlessLooking, isSecretValue } from '../core/secret-values.ts';
import type { RunResult } from '../launch/run.ts';
import type { FilteredEnvironment } from '../plan/environment.ts';

export interface KeptValues {
  readonly callerEnv: Readonly<Record<string, string>>;
  readonly environment: Pick<FilteredEnvironment, 'scrubbed'>;
  /** Of headers that are added outside. */
  readonly injected: readonly string[];
}

/** What assay keeps from the program is in nothing that it writes, should the program have come by it all the same. */
export function hideKeptValues({ callerEnv, environment, injected }: KeptValues): Hide {
  const values: string[] = [];
  // `Bearer TOKEN` is the token, with or without the word before it.
  for (const value of injected) values.push(value, ...value.split(' ').slice(-1));
  for (const name of environment.scrubbed) {
    const value = callerEnv[name] ?? '';
    // Words, small numbers and paths stand in many names by themselves.
    if (isSecretValue(name, value) && !isHarmlessLooking(value)) values.push(value);
  }
  return makeHide(values);
}

/** What was refused, as it may be shown. */
export function redactRefusals(result: RunResult, hide: Hide): RunResult {
  const refusals = result.refusals.map((one) => ({
    ...one,
    path: redactPath(hide(decodeName(one.path))),
  }));
  return { ...result, refusals };
}
