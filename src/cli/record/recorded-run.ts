import { AssayError } from '../../core/errors.ts';
import { findViolations, type Violation } from '../../evidence/violations.ts';
import type { RunRecord } from '../../evidence/run-record.ts';
import type { RecordRequest, RunResult } from '../../launch/run.ts';
import { describeCounters } from '../../observe/counters.ts';
import type { FilteredEnvironment } from '../../plan/environment.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import type { FlagValues } from '../flag-values.ts';
import type { JsonTarget } from './json-target.ts';
import { chooseLevel } from './level.ts';
import { openProfileFiles, type ProfileFiles } from './profile-files.ts';
import { isProgressShown, ProgressLine } from './progress-line.ts';
import { RecordSession } from './session.ts';
import type { WriteProfileInput, WrittenProfile } from './write-profile.ts';

export interface RecordedRunInput {
  readonly argv: readonly string[];
  readonly flags: FlagValues;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly environment: FilteredEnvironment;
  readonly uid: number;
  readonly json?: JsonTarget | undefined;
}

export interface RunOutcome {
  readonly exitCode: number;
  readonly violations: readonly Violation[];
  readonly runId?: string | undefined;
  /** To be said at the end. */
  readonly lines: readonly string[];
  /** Artifacts that could not be written. */
  readonly problems: readonly string[];
}

interface ProfileOutput {
  readonly files: ProfileFiles;
  readonly writeProfile: (input: WriteProfileInput) => WrittenProfile;
}

const WOULD_BLOCK = 4;

/** Everything is opened and loaded before the program starts: what is missing later would cost the record. */
export async function openRecordedRun(input: RecordedRunInput): Promise<RecordedRun> {
  const files = openProfileFiles(input.flags);
  if (!files) return new RecordedRun(input, undefined);
  const { writeProfile } = await import('./write-profile.ts');
  return new RecordedRun(input, { files, writeProfile });
}

/** A run whose record somebody wants: as a stream, as files, or to be judged after a dry run. */
export class RecordedRun {
  readonly #input: RecordedRunInput;
  readonly #profile: ProfileOutput | undefined;
  readonly #progress: ProgressLine | undefined;
  readonly #session: RecordSession;

  constructor(input: RecordedRunInput, profile: ProfileOutput | undefined) {
    const { flags } = input;
    const level = chooseLevel(flags);
    const isDryRun = flags.has('dry-run');
    if (isDryRun && level !== 'all')
      throw new AssayError('E_USAGE', `Cannot use --observe ${level} with --dry-run`, {
        hint: 'A dry run watches everything, or it could not say what would be refused',
      });
    this.#input = input;
    this.#profile = profile;
    const isShown = isProgressShown({
      isAsked: flags.has('progress'),
      isQuiet: flags.has('quiet'),
    });
    this.#progress = isShown ? new ProgressLine() : undefined;
    this.#session = new RecordSession({ ...input, level, isDryRun, progress: this.#progress });
  }

  get request(): RecordRequest {
    return this.#session.request;
  }

  usePlan(plan: Plan): void {
    this.#session.usePlan(plan);
  }

  /** Nothing ran, so there is nothing to write. */
  abandon(): string[] {
    this.#progress?.clear();
    return this.#profile
      ? [`assay: --profile ${this.#profile.files.policy.path} not written: nothing was executed`]
      : [];
  }

  end(result: RunResult): RunOutcome {
    this.#progress?.clear();
    const record = this.#session.finish(result);
    const { policy, variables, flags } = this.#input;
    const violations = flags.has('dry-run') ? findViolations({ ...record, policy, variables }) : [];
    const lines = [`assay: ${describeCounters(this.#session.counters)}`];
    const { runId, problems } = this.#profile
      ? this.#writeProfile(record, this.#profile, lines)
      : { runId: undefined, problems: [] };
    if (flags.has('dry-run')) lines.push(...describeViolations(violations));
    const exitCode = violations.length > 0 ? WOULD_BLOCK : result.exitCode;
    return { exitCode, violations, runId, lines, problems };
  }

  #writeProfile(
    record: RunRecord,
    { files, writeProfile }: ProfileOutput,
    lines: string[],
  ): { runId: string; problems: string[] } {
    const written = writeProfile({ record, files, policy: this.#input.policy });
    lines.push(`assay: ${written.runId}`, ...written.paths.map((path) => `assay: wrote ${path}`));
    return written;
  }
}

function describeViolations(violations: readonly Violation[]): string[] {
  const lines = violations.map(({ op, path, rule }) => {
    const why = rule
      ? `${rule.origin.source}, ${rule.origin.key}: ${rule.origin.text}`
      : 'nothing allows it';
    return `DRY-RUN VIOLATION: would refuse ${op} ${path} (${why})`;
  });
  const count = violations.length === 1 ? '1 violation' : `${violations.length} violations`;
  return [...lines, `DRY-RUN: ${violations.length === 0 ? 'no violations' : `${count} found`}`];
}
