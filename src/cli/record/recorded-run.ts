import { existsSync, lstatSync } from 'node:fs';
import type { BundleFile } from '../../artifacts/bundle-file.ts';
import { AssayError } from '../../core/errors.ts';
import type { Hide } from '../../core/known-secrets.ts';
import type { EgressLog, NameTable } from '../../egress/egress.ts';
import type { JudgedRun, Violation } from '../../evidence/violations.ts';
import type { GeneralRun } from '../../evidence/general-run.ts';
import type { RunRecord } from '../../evidence/run-record.ts';
import { toRefusedOp } from '../../launch/report.ts';
import type { RecordRequest, RunResult } from '../../launch/run.ts';
import { describeCounters } from '../../observe/counters.ts';
import type { FilteredEnvironment } from '../../plan/environment.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { mayNeedDoor } from '../../plan/network.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import type { FlagValues } from '../flag-values.ts';
import type { BundleSummary } from '../run-summary.ts';
import type { JsonTarget } from './json-target.ts';
import { chooseLevel } from './level.ts';
import { listRefusedPlaces, type RefusedEndpoint } from './refused-places.ts';
import { openProfileFiles, type ProfileFiles } from './profile-files.ts';
import { isProgressShown, ProgressLine } from './progress-line.ts';
import { RecordSession } from './session.ts';
import { SignalHold } from './signal-hold.ts';
import type { WriteProfileInput, WrittenProfile } from './write-profile.ts';

export interface RecordedRunInput {
  readonly argv: readonly string[];
  readonly flags: FlagValues;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly environment: FilteredEnvironment;
  /** Of values that must not be in the record. */
  readonly hide: Hide;
  readonly uid: number;
  readonly json?: JsonTarget | undefined;
  /** Of a dry run: the plan of the same run with its boundary, by which it is judged. */
  readonly boundary?: Plan | undefined;
}

export interface RunOutcome {
  readonly exitCode: number;
  readonly violations: readonly Violation[];
  readonly runId?: string | undefined;
  readonly bundle?: BundleSummary | undefined;
  /** By the rules for the network; undefined where nothing was watched. */
  readonly refusedPlaces?: readonly RefusedEndpoint[] | undefined;
  /** To be said at the end. */
  readonly lines: readonly string[];
  /** Artifacts that could not be written. */
  readonly problems: readonly string[];
}

interface ProfileOutput {
  readonly files: ProfileFiles;
  readonly writeProfile: (input: WriteProfileInput) => WrittenProfile;
}

/** What is written when the run is over. */
interface Outputs {
  readonly profile?: ProfileOutput | undefined;
  readonly bundle?: BundleFile | undefined;
  readonly generaliseRun: (record: RunRecord, options: { readonly name: string }) => GeneralRun;
}

const WOULD_BLOCK = 4;
/** Of a profile that nobody asked for; the bundle does not say it. */
const NO_PROFILE = 'sandbox';

/** Everything is opened and loaded before the program starts: what is missing later would cost the record. */
export async function openRecordedRun(input: RecordedRunInput): Promise<RecordedRun> {
  const { flags } = input;
  const files = openProfileFiles(flags);
  const bundle = flags.has('bundle') ? await openBundle(input) : undefined;
  if (!files && !bundle) return new RecordedRun(input, undefined);
  const { generaliseRun } = await import('../../evidence/general-run.ts');
  const profile = files && {
    files,
    writeProfile: (await import('./write-profile.ts')).writeProfile,
  };
  return new RecordedRun(input, { profile, bundle, generaliseRun });
}

async function openBundle({ flags, policy, variables }: RecordedRunInput): Promise<BundleFile> {
  const { BundleFile } = await import('../../artifacts/bundle-file.ts');
  return new BundleFile({ path: flags.text('bundle') ?? '', policy, variables });
}

/** A run whose record somebody wants: as a stream, as files, or to be judged after a dry run. */
export class RecordedRun {
  readonly #input: RecordedRunInput;
  readonly #outputs: Outputs | undefined;
  readonly #progress: ProgressLine | undefined;
  readonly #session: RecordSession;
  readonly #signals = new SignalHold();

  constructor(input: RecordedRunInput, outputs: Outputs | undefined) {
    const { flags } = input;
    const level = chooseLevel(flags);
    const isDryRun = flags.has('dry-run');
    if (isDryRun && level !== 'all')
      throw new AssayError('E_USAGE', `Cannot use --observe ${level} with --dry-run`, {
        hint: 'A dry run watches everything, or it could not say what would be refused',
      });
    this.#input = input;
    this.#outputs = outputs;
    const isShown = isProgressShown({
      isAsked: flags.has('progress'),
      isQuiet: flags.has('quiet'),
    });
    this.#progress = isShown ? new ProgressLine() : undefined;
    this.#session = new RecordSession({ ...input, level, isDryRun, progress: this.#progress });
  }

  get request(): RecordRequest {
    const { onRecord, examine, ...request } = this.#session.request;
    return {
      ...request,
      onRecord: (lines) => {
        this.#signals.hold();
        onRecord?.(lines);
      },
      examine: async (result) => {
        this.#signals.hold();
        await examine?.(result);
      },
    };
  }

  async openEgress(names: NameTable): Promise<EgressLog> {
    return this.#session.openEgress(names);
  }

  usePlan(plan: Plan): void {
    this.#session.usePlan(plan);
  }

  /** Nothing ran, so there is nothing to write. */
  abandon(): string[] {
    this.#progress?.clear();
    const { profile, bundle } = this.#outputs ?? {};
    const named = [
      ...(profile ? [`--profile ${profile.files.policy.path}`] : []),
      ...(bundle ? [`--bundle ${bundle.path}`] : []),
    ];
    return named.map((artifact) => `assay: ${artifact} not written: nothing was executed`);
  }

  async end(result: RunResult): Promise<RunOutcome> {
    this.#progress?.clear();
    const { flags, boundary } = this.#input;
    const seen = this.#session.finish(result);
    const { violations, events } = boundary
      ? await this.#judge(seen, boundary)
      : { violations: [], events: seen.events };
    const record = { ...seen, events };
    const isWatched = record.coverage.changes.status !== 'absent';
    const lines = [
      `assay: ${isWatched ? describeCounters(this.#session.counters) : 'the program was not watched'}`,
    ];
    const written = this.#outputs && (await this.#write(record, this.#outputs));
    lines.push(...(written?.lines ?? []));
    if (flags.has('dry-run')) lines.push(...describeViolations(violations));
    const exitCode = violations.length > 0 ? WOULD_BLOCK : result.exitCode;
    const { runId, bundle, problems = [] } = written ?? {};
    const refusedPlaces = isWatched && this.#input.json ? listRefusedPlaces(record) : undefined;
    return { exitCode, violations, refusedPlaces, runId, bundle, lines, problems };
  }

  async #judge(record: RunRecord, boundary: Plan): Promise<JudgedRun> {
    const { policy } = this.#input;
    const { judgeRun } = await import('../../evidence/violations.ts');
    const namesOf = policy.net.some(mayNeedDoor)
      ? await (await import('./allowed-names.ts')).lookUpAllowedNames(policy, record.events)
      : undefined;
    return judgeRun({ ...record, policy, boundary, namesOf, isThere: existsSync, isLink });
  }

  async #write(record: RunRecord, outputs: Outputs): Promise<Written> {
    const { profile, bundle } = outputs;
    const run = outputs.generaliseRun(record, { name: profile?.files.name ?? NO_PROFILE });
    const { runId } = run.id;
    const { paths, problems } = profile
      ? profile.writeProfile({ run, files: profile.files, policy: this.#input.policy })
      : { paths: [], problems: [] };
    const lines = [`assay: ${runId}`, ...paths.map((path) => `assay: wrote ${path}`)];
    if (!bundle) return { runId, lines, problems };
    try {
      const made = await bundle.write(run);
      lines.push(`assay: wrote ${made.path}`, `assay: bundle ${made.bundleId}`);
      return { runId, bundle: made, lines, problems };
    } catch (error) {
      const problem = `Cannot write the evidence bundle to "${bundle.path}": ${(error as Error).message}`;
      return { runId, lines, problems: [...problems, problem] };
    } finally {
      bundle.close();
    }
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

type Written = Pick<RunOutcome, 'bundle' | 'lines' | 'problems'> & { readonly runId: string };

function describeViolations(violations: readonly Violation[]): string[] {
  const lines = violations.map(({ op, path, rule, decision }) => {
    const why = rule
      ? `${rule.origin.source}, ${rule.origin.key}: ${rule.origin.text}`
      : (decision.rule ?? 'nothing allows it');
    return `DRY-RUN VIOLATION: would refuse ${toRefusedOp(op)} ${path} (${why})`;
  });
  const count = violations.length === 1 ? '1 violation' : `${violations.length} violations`;
  return [...lines, `DRY-RUN: ${violations.length === 0 ? 'no violations' : `${count} found`}`];
}
