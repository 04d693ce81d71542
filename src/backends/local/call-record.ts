import { sha256Hex } from '../../core/digest.ts';
import { encodeName } from '../../core/name-bytes.ts';
import { redactPath } from '../../core/redact.ts';
import type { Destination, EgressLog, NameTable, Verdict } from '../../egress/egress.ts';
import type { RunRecord } from '../../evidence/run-record.ts';
import { describeErrno } from '../../launch/errno.ts';
import type { ImageDigests } from '../../launch/image-digests.ts';
import type { HelperReport } from '../../launch/report.ts';
import { stateCoverage } from '../../observe/coverage.ts';
import type { Coverage as RecordCoverage, Event } from '../../observe/event.ts';
import { Recorder, type Recording } from '../../observe/recorder.ts';
import { findBrokerRule } from '../../plan/broker.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Coverage, Surface } from '../backend.ts';
import { INSIDE, toRecordedCommand } from '../evidence.ts';
import { examineFiles } from './aftermath.ts';
import type { LocalFiles } from './files.ts';

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
    // No door was used; what has no way to one is refused all the same.
    if (this.#held.length > 0) {
      const { FakeAddresses } = await import('../../egress/dns/name-table.ts');
      await this.openEgress(new FakeAddresses());
    }
    const recording = this.#recorder.finish();
    const { argv, environment, plan, policy, uid } = this.#input;
    const { report } = facts;
    const limit = report.end?.limit ?? '';
    const { privateTmp } = plan.launch;
    const { unseen, ...files } = await examineFiles({
      events: recording.events,
      names: this.#recorder.names,
      files: facts.files,
      privateTmp,
      variables: INSIDE,
    });
    const programs = await this.#input.digests.addTo(
      recording.programs,
      recording.images,
      (image) => findSystemImage(this.#recorder.names.find(image)),
    );
    return {
      command: toRecordedCommand(argv, this.#codeSha256),
      level: 'all',
      events: [...recording.events, ...listOwnEvents(plan, environment, limit)],
      programs,
      pids: recording.pids,
      overflow: recording.overflow,
      egress: recording.egress,
      coverage: this.#stateCoverage(recording, facts, unseen),
      ...files,
      hidden: [],
      end: {
        exitCode: facts.exitCode,
        signal: report.end?.signal ?? 0,
        isTimedOut: report.end?.timedOut ?? false,
        limit,
        execError: report.execErrno === undefined ? undefined : describeErrno(report.execErrno),
      },
      variables: INSIDE,
      privateTmp,
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

  #stateCoverage(
    { lost, unread, damagedLines, overflow }: Recording,
    facts: CallFacts,
    unseen: number,
  ): RecordCoverage {
    const { plan } = this.#input;
    const { report, doorProblems } = facts;
    return stateCoverage({
      level: 'all',
      areOpensWatched: plan.launch.filter?.notify?.opens === 'all',
      network: plan.network,
      doorProblems,
      lost,
      unread,
      areSocketsReplaced: plan.launch.flags.hasNoCopies === true,
      damagedLines: damagedLines + report.damagedLines,
      overflow,
      unseen,
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
    ...plan.degradations.map(({ rule, reason }) => ({
      kind: 'degradation' as const,
      rule: redactPath(rule),
      reason,
    })),
    ...environment.map((name) => ({
      kind: 'environment' as const,
      op: 'passed' as const,
      name,
    })),
    ...(limit ? [{ kind: 'limit' as const, limit }] : []),
  ];
}

/** Images of the system are at the same place on the host. */
function findSystemImage(image: string | undefined): Buffer | null {
  return image === undefined || image.startsWith('/workspace') ? null : encodeName(image);
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
