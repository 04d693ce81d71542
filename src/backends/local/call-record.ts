import { REDACTED } from '../../core/redact.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { Destination, EgressLog, NameTable, Verdict } from '../../egress/egress.ts';
import type { FinalState, RunRecord } from '../../evidence/run-record.ts';
import { listTouched } from '../../evidence/touched-paths.ts';
import { describeErrno } from '../../launch/errno.ts';
import type { HelperReport } from '../../launch/report.ts';
import { stateCoverage } from '../../observe/coverage.ts';
import type { Coverage as RecordCoverage, Event, Program } from '../../observe/event.ts';
import { encodeName } from '../../observe/name-bytes.ts';
import { Recorder, type Recording } from '../../observe/recorder.ts';
import { findBrokerRule } from '../../plan/broker.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Coverage, Surface } from '../backend.ts';
import { INSIDE, toRecordedCommand } from '../evidence.ts';
import type { InsideState, LocalFiles } from './files.ts';
import type { ImageDigests } from './image-digests.ts';

export interface CallRecordInput {
  readonly argv: readonly string[];
  readonly codeSha256: string | undefined;
  readonly environment: readonly string[];
  readonly plan: Plan;
  readonly policy: Policy;
  readonly uid: number;
  readonly digests: ImageDigests;
}

export interface CallFacts {
  readonly report: HelperReport;
  readonly exitCode: number;
  readonly files: LocalFiles | undefined;
  readonly doorProblems: readonly string[];
}

/** The record of one call: everything that the broker saw, as a run of its own. */
export class CallRecord {
  readonly #input: CallRecordInput;
  readonly #recorder: Recorder;
  #startedMs = Date.now();
  #codeSha256: string | undefined;
  /** Until the doors are served nobody knows the names that addresses stand for. */
  readonly #held: string[] = [];
  #hasEgress = false;

  constructor(input: CallRecordInput) {
    this.#input = input;
    this.#codeSha256 = input.codeSha256;
    this.#recorder = new Recorder({
      describeRule: (id) => describeRule(input.plan, id),
      digest: sha256Hex,
      seed: Math.floor(Math.random() * 2 ** 31),
    });
  }

  /** Of a call that was started ahead. */
  begin(codeSha256: string | undefined): void {
    this.#startedMs = Date.now();
    this.#codeSha256 = codeSha256;
  }

  feed(lines: string): void {
    if (this.#input.plan.doors && !this.#hasEgress) this.#held.push(lines);
    else this.#recorder.feed(lines);
  }

  /** Where the doors of the call say what they did. */
  async openEgress(names: NameTable): Promise<EgressLog> {
    const { EgressRecorder } = await import('../../observe/egress-recorder.ts');
    const { makeEgressRules } = await import('../../egress/rules.ts');
    const { doors } = this.#input.plan;
    const clock = { now: () => Date.now(), after: () => () => undefined };
    const rules = makeEgressRules({ policy: this.#input.policy, clock });
    const site = {
      ranges: doors?.ranges ?? [],
      hostPorts: doors?.hostPorts ?? [],
      names,
      decide: (destination: Destination): Verdict => rules.decide(destination),
      nowMs: () => Date.now() - this.#startedMs,
    };
    const log = this.#recorder.openEgress(site, EgressRecorder);
    this.#hasEgress = true;
    for (const lines of this.#held.splice(0)) this.#recorder.feed(lines);
    return log;
  }

  async finish(facts: CallFacts): Promise<RunRecord> {
    const endedMs = Date.now();
    for (const lines of this.#held.splice(0)) this.#recorder.feed(lines);
    const recording = this.#recorder.finish();
    const { argv, environment, plan, policy, uid } = this.#input;
    const { report } = facts;
    const limit = report.end?.limit ?? '';
    return {
      command: toRecordedCommand(argv, this.#codeSha256),
      level: 'all',
      events: [...recording.events, ...listOwnEvents(plan, environment, limit)],
      programs: addDigests(recording, this.#input.digests),
      pids: recording.pids,
      overflow: recording.overflow,
      egress: recording.egress,
      coverage: this.#stateCoverage(recording, facts),
      finalStates: await readFinalStates(recording.events, facts.files),
      movedContents: new Map(),
      hidden: [],
      end: {
        exitCode: facts.exitCode,
        signal: report.end?.signal ?? 0,
        isTimedOut: report.end?.timedOut ?? false,
        limit,
        execError: report.execErrno === undefined ? undefined : describeErrno(report.execErrno),
      },
      variables: INSIDE,
      privateTmp: plan.launch.privateTmp,
      uid,
      startedMs: this.#startedMs,
      launchedMs: this.#startedMs,
      endedMs,
      policy: { name: policy.name, isDefault: policy.isDefault },
      mode: 'containment',
      network: plan.network,
      layers: plan.layers,
      environment: { passed: [...environment], removed: [] },
    };
  }

  #stateCoverage({ lost, damagedLines, overflow }: Recording, facts: CallFacts): RecordCoverage {
    const { plan } = this.#input;
    const { report, doorProblems } = facts;
    return stateCoverage({
      level: 'all',
      areOpensWatched: plan.launch.filter?.notify?.opens === 'all',
      network: plan.network,
      doorProblems,
      lost,
      damagedLines: damagedLines + report.damagedLines,
      overflow,
      isCutShort: report.execErrno === undefined && !report.isRecordWhole,
    });
  }
}

function describeRule(plan: Plan, id: number): string {
  const rule = findBrokerRule(plan.launch.brokerRules, id);
  return rule
    ? `${rule.origin.source} ${rule.origin.key}: ${rule.origin.text}`
    : `rule ${id} of the sandbox`;
}

function listOwnEvents(plan: Plan, environment: readonly string[], limit: string): Event[] {
  return [
    ...plan.degradations.map((one) => ({ kind: 'degradation' as const, ...one })),
    ...environment.map((name) => ({
      kind: 'environment' as const,
      op: 'passed' as const,
      name,
    })),
    ...(limit ? [{ kind: 'limit' as const, limit }] : []),
  ];
}

/** Images of the system are at the same place on the host. */
function addDigests({ programs, images }: Recording, digests: ImageDigests): Program[] {
  return programs.map((program) => {
    const state = images.get(program.id);
    if (program.digest !== undefined || !state || program.image.startsWith('/workspace'))
      return program;
    const digest = digests.find(program.image, state);
    return digest === undefined ? program : { ...program, digest };
  });
}

async function readFinalStates(
  events: readonly Event[],
  files: LocalFiles | undefined,
): Promise<Map<string, FinalState>> {
  const touched = [...listTouched(events)].filter(([path]) => !path.includes(REDACTED));
  const states = new Map<string, FinalState>();
  if (!files) return states;
  const now = await files.readStates(touched.map(([path]) => encodeName(path)));
  for (const [index, [path, before]] of touched.entries())
    states.set(path, compareStates(before, now[index] ?? null));
  return states;
}

function compareStates(before: InsideState | undefined, now: InsideState | null): FinalState {
  if (!now) return 'absent';
  if (!before) return 'changed';
  const isSame =
    now.dev === before.dev &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs;
  return isSame ? 'same' : 'changed';
}

/** As the interface states it: of files, what was read and what was changed. */
export function toCoverage({ reads, changes, ...rest }: RecordCoverage): Record<Surface, Coverage> {
  const order: readonly Coverage[] = ['absent', 'partial', 'complete'];
  const weaker = Math.min(order.indexOf(reads.status), order.indexOf(changes.status));
  return {
    files: order[weaker] ?? 'absent',
    programs: rest.programs.status,
    network: rest.network.status,
    environment: rest.environment.status,
  };
}
