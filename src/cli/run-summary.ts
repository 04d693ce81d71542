import { fstatSync, openSync, closeSync, writeSync } from 'node:fs';
import { AssayError } from '../core/errors.ts';
import type { RunResult } from '../launch/run.ts';
import type { FilteredEnvironment } from '../plan/environment.ts';
import type { Policy, Variables } from '../policy/policy.ts';
import { suggestAllow } from '../policy/suggest-flag.ts';
import { toRefusedOp } from './refusal-hints.ts';

export interface SummaryInput {
  readonly result: RunResult;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly environment: FilteredEnvironment;
  readonly isDryRun: boolean;
}

/** One object that says how the run went, for programs. */
export function makeSummary({
  result,
  policy,
  variables,
  environment,
  isDryRun,
}: SummaryInput): object {
  const { plan } = result;
  return {
    schema: 'assay.sandbox.v1',
    exitCode: result.exitCode,
    signal: result.signal,
    timedOut: result.isTimedOut,
    limit: result.limit || null,
    execError: result.execError ?? null,
    durationMs: result.durationMs,
    mode: isDryRun ? 'dry-run' : 'containment',
    policy: { name: policy.name, isDefault: policy.isDefault },
    network: plan.network,
    layers: plan.layers,
    degradations: plan.degradations,
    notes: plan.notes,
    limits: plan.limits.reports,
    environment: {
      passed: environment.passed,
      scrubbed: environment.scrubbed,
      stripped: environment.stripped,
    },
    refusalCount: result.refusalCount,
    refusals: result.refusals.map(({ op, path, rule, isHidden }) => ({
      op,
      path,
      isHidden,
      rule: rule
        ? { source: rule.origin.source, key: rule.origin.key, text: rule.origin.text }
        : null,
      allowWith: suggestAllow(toRefusedOp(op), path, { policy, variables }).flag ?? null,
    })),
    setAside: result.setAside,
    workdir: variables.cwd,
    tmp: variables.tmpdir,
  };
}

/** Opened before the run, so that a target that cannot be written is an error before anything has happened. */
export function openSummary(target: string | undefined): number | undefined {
  if (target === undefined) return undefined;
  if (target === '-') return 2;
  const descriptor = /^fd:(\d+)$/.exec(target)?.[1];
  try {
    if (descriptor === undefined) return openSync(target, 'w', 0o600);
    fstatSync(Number(descriptor));
    return Number(descriptor);
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot write the summary to "${target}": ${(cause as Error).message}`,
      {
        hint: 'Name a file, fd:N for an open descriptor, or - for standard error',
        cause,
      },
    );
  }
}

export function writeSummary(fd: number | undefined, summary: object): void {
  if (fd === undefined) return;
  writeSync(fd, `${JSON.stringify(summary)}\n`);
  if (fd > 2) closeSync(fd);
}
