import type { AssayError } from '../core/errors.ts';
import { toRefusedOp } from '../launch/report.ts';
import type { RunResult } from '../launch/run.ts';
import type { FilteredEnvironment } from '../plan/environment.ts';
import type { Violation } from '../evidence/violations.ts';
import type { Origin, Policy, Variables } from '../policy/policy.ts';
import type { RefusedEndpoint } from './record/refused-places.ts';
import { isToldElsewhere, suggestFor } from './refusal-hints.ts';

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
  /** Refused by the rules for the network, and not by the broker. */
  readonly places: readonly RefusedEndpoint[];
}

export interface BundleSummary {
  readonly path: string;
  readonly bundleId: string;
  /** Of the file. */
  readonly sha256: string;
}

interface RefusalSummary {
  readonly op: string;
  readonly path: string;
  readonly isHidden: boolean;
  readonly rule: object | null;
  readonly allowWith: string | null;
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
  places,
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
    refusalCount: result.refusalCount + places.length,
    refusals: result.refusals
      .map((refusal): RefusalSummary => {
        const { op, path, rule, isHidden } = refusal;
        const { flag } = suggestFor(refusal, policy, variables);
        const allowWith = isToldElsewhere(refusal, result) ? null : (flag ?? null);
        return { op, path, isHidden, rule: describeOrigin(rule), allowWith };
      })
      .concat(places.map(describePlace)),
    violations: violations.map(({ op, path, rule }) => ({
      op: toRefusedOp(op),
      path,
      rule: describeOrigin(rule),
    })),
    setAside: result.setAside,
    workdir: variables.cwd,
    tmp: variables.tmpdir,
  };
}

/** What stands before the key is where the rule is written. */
const RULE = /^(?<source>.*?) (?<key>net\.\w+): (?<text>.*)$/s;

function describePlace({ op, path, rule: told, hint }: RefusedEndpoint): RefusalSummary {
  const { source, key, text } = RULE.exec(told ?? '')?.groups ?? {};
  const rule = source === undefined ? null : { source, key, text };
  return { op, path, isHidden: false, rule, allowWith: hint ?? null };
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
