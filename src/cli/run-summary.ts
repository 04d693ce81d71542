import { existsSync } from 'node:fs';
import type { AssayError } from '../core/errors.ts';
import type { RunResult } from '../launch/run.ts';
import type { FilteredEnvironment } from '../plan/environment.ts';
import type { Violation } from '../evidence/violations.ts';
import type { Origin, Policy, Variables } from '../policy/policy.ts';
import { suggestAllow } from '../policy/suggest-flag.ts';
import { isToldElsewhere, toRefusedOp } from './refusal-hints.ts';

const SCHEMA = 'assay.sandbox.v1';

export interface SummaryInput {
  readonly result: RunResult;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly environment: FilteredEnvironment;
  readonly isDryRun: boolean;
  readonly violations: readonly Violation[];
  /** Of a run with a record that was asked for. */
  readonly runId?: string | undefined;
  readonly bundle?: BundleSummary | undefined;
}

export interface BundleSummary {
  readonly path: string;
  readonly bundleId: string;
  /** Of the file. */
  readonly sha256: string;
}

/** One object that says how the run went, for programs. */
export function makeSummary({
  result,
  policy,
  variables,
  environment,
  isDryRun,
  violations,
  runId,
  bundle,
}: SummaryInput): object {
  const { plan } = result;
  return {
    type: 'summary',
    schema: SCHEMA,
    exitCode: result.exitCode,
    signal: result.signal,
    timedOut: result.isTimedOut,
    limit: result.limit || null,
    execError: result.execError ?? null,
    durationMs: result.durationMs,
    mode: isDryRun ? 'dry-run' : 'containment',
    runId: runId ?? null,
    bundle: bundle ?? null,
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
    refusals: result.refusals.map((refusal) => {
      const { op, path, rule, isHidden } = refusal;
      const { flag } = suggestAllow(toRefusedOp(op), path, {
        policy,
        variables,
        isThere: existsSync,
      });
      const allowWith = isToldElsewhere(refusal, result) ? null : (flag ?? null);
      return { op, path, isHidden, rule: describeOrigin(rule), allowWith };
    }),
    violations: violations.map(({ op, path, rule }) => ({ op, path, rule: describeOrigin(rule) })),
    setAside: result.setAside,
    workdir: variables.cwd,
    tmp: variables.tmpdir,
  };
}

function describeOrigin(rule: { readonly origin: Origin } | undefined): object | null {
  if (!rule) return null;
  const { source, key, text } = rule.origin;
  return { source, key, text };
}

/** A run that did not come about: why, for programs. */
export function makeFailureSummary(error: AssayError): object {
  const { code, message, hint = null, exitCode } = error;
  return { type: 'summary', schema: SCHEMA, exitCode, error: { code, message, hint } };
}
