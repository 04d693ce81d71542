import { existsSync } from 'node:fs';
import { sha256Hex } from '../../core/digest.ts';
import type { Hide } from '../../core/known-secrets.ts';
import { decodeName, encodeName } from '../../core/name-bytes.ts';
import { redactArgv, redactPath } from '../../core/redact.ts';
import type { Destination, EgressLog, NameTable, Verdict } from '../../egress/egress.ts';
import type { RunRecord } from '../../evidence/run-record.ts';
import { ImageDigests } from '../../launch/image-digests.ts';
import { findHidden, type RecordRequest, type RunResult } from '../../launch/run.ts';
import type { Counters } from '../../observe/counters.ts';
import { stateCoverage } from '../../observe/coverage.ts';
import type { ImageState } from '../../observe/decode-line.ts';
import type { Event, ObserveLevel, Program } from '../../observe/event.ts';
import { toJsonEvent } from '../../observe/json-event.ts';
import { Recorder } from '../../observe/recorder.ts';
import { findBrokerRule } from '../../plan/broker.ts';
import type { FilteredEnvironment } from '../../plan/environment.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import { examineFiles, makeLocate } from './examine.ts';
import type { JsonTarget } from './json-target.ts';
import type { ProgressLine } from './progress-line.ts';

export interface SessionInput {
  readonly argv: readonly string[];
  readonly level: ObserveLevel;
  readonly policy: Policy;
  readonly variables: Variables;
  readonly environment: FilteredEnvironment;
  readonly hide: Hide;
  readonly uid: number;
  readonly isDryRun: boolean;
  readonly json?: JsonTarget | undefined;
  readonly progress?: ProgressLine | undefined;
}

type Observed = Pick<
  RunRecord,
  | 'events'
  | 'programs'
  | 'coverage'
  | 'pids'
  | 'overflow'
  | 'egress'
  | 'finalStates'
  | 'movedContents'
  | 'hidden'
>;

/** The record of one run while it is made: fed by the launcher, shown as it grows, and handed over at the end. */
export class RecordSession {
  readonly #input: SessionInput;
  readonly #recorder: Recorder;
  readonly #startedMs = Date.now();
  #launchedMs = this.#startedMs;
  #endedMs = 0;
  #hasStarted = false;
  #hasEgress = false;
  readonly #held: string[] = [];
  readonly #images = new ImageDigests();
  #plan: Plan | undefined;
  #observed: Observed | undefined;

  constructor(input: SessionInput) {
    // Most of what a record makes lives on: space that grows in advance would be room for nothing.
    for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=30'])
      process.getBuiltinModule('node:v8').setFlagsFromString(flag);
    this.#input = input;
    this.#recorder = new Recorder({
      describeRule: (id) => this.#describeRule(id),
      digest: sha256Hex,
      hide: input.hide,
      given: [input.variables.cwd, input.variables.home],
      seed: Math.floor(Math.random() * 2 ** 31),
      onProgram: (program, state) => this.#beginDigest(program, state),
      onFirstSighting: input.json && ((sighting, by) => this.#show(sighting, by)),
      onCounters: (counters) => input.progress?.update(counters),
    });
  }

  /** The plan that is tried now: its rules are what the helper's numbers mean. */
  usePlan(plan: Plan): void {
    this.#plan = plan;
    this.#launchedMs = Date.now();
  }

  get request(): RecordRequest {
    return {
      recording: this.#input.level,
      onRecord: (lines) => {
        this.#tellStart();
        // Until the doors are served nobody knows the names that addresses stand for.
        if (this.#plan?.doors && !this.#hasEgress) this.#held.push(lines);
        else this.#recorder.feed(lines);
      },
      examine: async (result) => this.#examine(result),
    };
  }

  /** Where the doors of the run say what they did; `names` are those that addresses inside stand for. */
  async openEgress(names: NameTable): Promise<EgressLog> {
    const { EgressRecorder } = await import('../../observe/egress-recorder.ts');
    const { ranges = [], hostPorts = [] } = this.#plan?.doors ?? {};
    const nowMs = (): number => Date.now() - this.#launchedMs;
    const { makeEgressRules } = await import('../../egress/rules.ts');
    const clock = { now: () => Date.now(), after: () => () => undefined };
    const rules = makeEgressRules({ policy: this.#input.policy, clock });
    const decide = (destination: Destination): Verdict => rules.decide(destination);
    const log = this.#recorder.openEgress(
      { ranges, hostPorts, names, decide, nowMs },
      EgressRecorder,
    );
    this.#hasEgress = true;
    this.#feedHeld();
    return log;
  }

  #beginDigest(program: Program, state: ImageState): void {
    const launch = this.#plan?.launch;
    if (launch) void this.#images.find(program, state, makeLocate(this.#recorder.names, launch));
  }

  /** No door was used, so no address stands for a name; what has no way to one is refused all the same. */
  async #feedUnserved(): Promise<void> {
    const { FakeAddresses } = await import('../../egress/dns/name-table.ts');
    await this.openEgress(new FakeAddresses());
  }

  #feedHeld(): void {
    for (const lines of this.#held.splice(0)) this.#recorder.feed(lines);
  }

  get counters(): Counters {
    return this.#recorder.counters;
  }

  /** Once the program runs, the plan is the one that counts. */
  #tellStart(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    for (const event of this.#listOwnEvents()) this.#show(event, undefined);
  }

  /** What is known without watching. */
  #listOwnEvents(): Event[] {
    const { passed, removed } = this.#namesOfEnvironment();
    return [
      ...(this.#plan?.degradations ?? []).map(({ rule, reason }) => ({
        kind: 'degradation' as const,
        rule: redactPath(this.#input.hide(rule)),
        reason,
      })),
      ...passed.map((name) => ({ kind: 'environment' as const, op: 'passed' as const, name })),
      ...removed.map((name) => ({ kind: 'environment' as const, op: 'removed' as const, name })),
    ];
  }

  #namesOfEnvironment(): RunRecord['environment'] {
    const { passed, scrubbed, stripped } = this.#input.environment;
    return { passed, removed: [...scrubbed, ...stripped].sort() };
  }

  #describeRule(id: number): string {
    const rule = findBrokerRule(this.#plan?.launch.brokerRules ?? [], id);
    return rule
      ? `${rule.origin.source} ${rule.origin.key}: ${rule.origin.text}`
      : `rule ${id} of the run`;
  }

  #show(sighting: Event | Program, by: Program | undefined): void {
    this.#input.json?.write(toJsonEvent(sighting, by));
  }

  /** While the private tmp is still there. */
  async #examine(result: RunResult): Promise<void> {
    this.#endedMs = Date.now();
    this.#tellStart(); // a run that nobody watches has no lines of its own
    const { launch, layers } = result.plan;
    if (this.#held.length > 0) await this.#feedUnserved();
    const recording = this.#recorder.finish();
    const { names } = this.#recorder;
    const { events, pids, overflow, egress, lost, unread, damagedLines } = recording;
    const { unseen, ...files } = examineFiles(events, names, launch, this.#input.variables);
    const programs = await this.#images.addTo(
      recording.programs,
      recording.images,
      makeLocate(names, launch),
    );
    this.#observed = {
      events,
      pids,
      overflow,
      egress,
      programs,
      ...files,
      hidden: this.#input.isDryRun ? [] : this.#findHidden(events, launch),
      coverage: stateCoverage({
        level: this.#input.level,
        whyNoBroker:
          launch.flags.isNotified === true
            ? undefined
            : (layers.find(({ layer }) => layer === 'broker')?.reason ?? 'left out'),
        areOpensWatched: launch.filter?.notify?.opens === 'all',
        network: this.#networkOf(result),
        doorProblems: result.doorProblems,
        lost,
        unread,
        areSocketsReplaced: launch.flags.hasNoCopies === true,
        damagedLines: damagedLines + result.damagedLines,
        overflow,
        unseen,
        isCutShort: launch.flags.isNotified === true && !result.isRecordWhole,
      }),
    };
  }

  /** Whatever the policy says, a dry run has the network of the host. */
  #networkOf({ plan }: RunResult): RunResult['plan']['network'] {
    return this.#input.isDryRun ? 'host' : plan.network;
  }

  #findHidden(events: readonly Event[], launch: RunResult['plan']['launch']): string[] {
    const absent = events.flatMap((event) =>
      event.kind === 'file' && event.outcome === 'ENOENT' ? [encodeName(event.path)] : [],
    );
    const hidden = findHidden(
      absent.map((path) => path.toString('latin1')),
      this.#input.variables,
      launch,
    ).map(({ path }) => decodeName(path));
    return [...new Set(hidden)].sort();
  }

  /** The whole of it, once the run is over. */
  finish(result: RunResult): RunRecord {
    const { argv, hide, level, policy, variables, uid, isDryRun } = this.#input;
    const { plan } = result;
    if (!this.#observed) throw new Error('the run has not been examined');
    const ownEvents = this.#listOwnEvents();
    if (result.limit) ownEvents.push({ kind: 'limit', limit: result.limit });
    return {
      ...this.#observed,
      events: this.#observed.events.concat(ownEvents),
      command: redactArgv(argv.map((one) => hide(one))),
      level,
      end: {
        exitCode: result.exitCode,
        signal: result.signal,
        isTimedOut: result.isTimedOut,
        limit: result.limit,
        execError: result.execError,
      },
      variables,
      isThere: existsSync,
      privateTmp: plan.launch.privateTmp,
      uid,
      startedMs: this.#startedMs,
      launchedMs: this.#launchedMs,
      endedMs: this.#endedMs,
      policy: { name: policy.name, isDefault: policy.isDefault },
      mode: isDryRun ? 'dry-run' : 'containment',
      network: this.#networkOf(result),
      layers: plan.layers,
      environment: this.#namesOfEnvironment(),
    };
  }
}
