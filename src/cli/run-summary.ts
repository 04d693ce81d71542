import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { AssayError } from '../core/errors.ts';
import type { RunResult } from '../launch/run.ts';
import type { FilteredEnvironment } from '../plan/environment.ts';
import type { Policy, Variables } from '../policy/policy.ts';
import { suggestAllow } from '../policy/suggest-flag.ts';
import { toRefusedOp } from './refusal-hints.ts';

const SCHEMA = 'assay.sandbox.v1';

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
    schema: SCHEMA,
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

export interface SummaryTarget {
  write(summary: object): void;
}

/**
 * Where `--json` points. It is tried before the run, so that a target that cannot be written is an error before
 * anything has happened. A file is put in place only at the end and by way of its directory as it was at the start: the
 * program inside may have moved either, or left a link there.
 */
export function openSummary(target: string): SummaryTarget {
  try {
    if (target === '-') return toDescriptor(2);
    const descriptor = /^fd:(\d+)$/.exec(target)?.[1];
    return descriptor === undefined ? toFile(target) : toDescriptor(Number(descriptor));
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot write the summary to "${target}": ${(cause as Error).message}`,
      { hint: 'Name a file, fd:N for an open descriptor, or - for standard error', cause },
    );
  }
}

function toDescriptor(fd: number): SummaryTarget {
  fstatSync(fd);
  return { write: (summary) => void writeSync(fd, toLine(summary)) };
}

function toFile(path: string): SummaryTarget {
  const directory = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  const at = (name: string): string => `/proc/self/fd/${directory}/${name}`;
  const partial = `.${basename(path)}.${process.pid}`;
  const isNew = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  closeSync(openSync(at(partial), isNew, 0o600));
  unlinkSync(at(partial));
  return {
    write(summary) {
      const fd = openSync(at(partial), isNew, 0o600);
      writeSync(fd, toLine(summary));
      closeSync(fd);
      renameSync(at(partial), at(basename(path)));
    },
  };
}

function toLine(summary: object): string {
  return `${JSON.stringify(summary)}\n`;
}

/** A run that did not come about: why, for programs. */
export function makeFailureSummary(error: AssayError): object {
  const { code, message, hint = null, exitCode } = error;
  return { schema: SCHEMA, exitCode, error: { code, message, hint } };
}
