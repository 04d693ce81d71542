import { digestEffectivePolicy, type EffectivePolicy } from '../../policy/effective-policy.ts';
import type { ChangeSet } from '../changes.ts';
import { EVIDENCE_VERSION } from '../evidence.ts';
import type { GeneralRun } from '../general-run.ts';
import { isAboutMachine } from '../normalise/special-paths.ts';
import { boundAndTell } from './bounded-list.ts';
import { makeCodingAgentPack } from './coding-agent-pack.ts';
import { computeIdentity, type ManifestIdentity } from './content-hash.ts';
import {
  type ChangeData,
  type CoverageData,
  type DegradedData,
  EVENT_TYPES,
  type EnvironmentData,
  type FinishedData,
  type LayersData,
  type PolicyData,
  type StartedData,
  type SummaryData,
} from './event-data.ts';
import { type LineEventOptions, toLineEvent } from './line-events.ts';
import type { EventDraft } from './write-bundle.ts';

/** Readers of the older format expect a name; that of a file would make equal runs differ. */
const PROFILE_NAME = 'sandbox';
const PHASE = 'urn:assay:phase:profile';

export interface EventsInput {
  readonly run: GeneralRun;
  readonly base: ManifestIdentity;
  readonly policy: EffectivePolicy;
  readonly toolchain: readonly string[];
}

/** The events of a run in the order of the bundle, one at a time: all at once would be a multiple of the record. */
export function* makeEvents({ run, base, policy, toolchain }: EventsInput): Generator<EventDraft> {
  const { record, content, normalised } = run;
  const clock = makeClock(record);
  const { start, end } = clock;

  yield { type: EVENT_TYPES.started, time: start, subject: PHASE, data: describeStart(run, base) };
  const inForce: PolicyData = {
    ...content.policy,
    digest: digestEffectivePolicy(policy),
    policy,
    toolchain: boundAndTell(toolchain),
  };
  yield { type: EVENT_TYPES.policy, time: start, subject: content.policy.name, data: inForce };
  const environment: EnvironmentData = {
    passed: boundAndTell(content.environment.passed),
    removed: boundAndTell(content.environment.removed),
  };
  yield { type: EVENT_TYPES.environment, time: start, data: environment };
  const layers: LayersData = { layers: content.layers };
  yield { type: EVENT_TYPES.layers, time: start, data: layers };
  for (const degradation of normalised.degradations) {
    const data = toDegraded(degradation);
    yield { type: EVENT_TYPES.degraded, time: start, subject: data.component, data };
  }

  const counts = { fs: 0, exec: 0, net: 0, refusals: 0 };
  const { processes } = content.entries;
  const options: LineEventOptions = {
    timeOf: clock.timeOf,
    digestsOf: (image) =>
      (Object.hasOwn(processes, image) ? processes[image] : undefined)?.digests ?? [],
  };
  for (const line of normalised.lines) {
    const event = toLineEvent(line, options);
    if (event.type === EVENT_TYPES.fs) counts.fs++;
    if (event.type === EVENT_TYPES.exec) counts.exec++;
    if (event.type === EVENT_TYPES.net) counts.net++;
    if (line.refusedBy !== undefined) counts.refusals++;
    yield event;
  }
  for (const line of normalised.systemReads) {
    // Runtimes ask how much memory is left when they see fit: equal runs would differ in that.
    if (isAboutMachine(line.path)) continue;
    counts.fs++;
    yield toLineEvent(line, { ...options, isSystem: true });
  }

  for (const data of listChanges(content.changes))
    yield { type: EVENT_TYPES.change, time: end, subject: data.path, data };
  const coverage: CoverageData = { surfaces: content.coverage };
  yield { type: EVENT_TYPES.coverage, time: end, data: coverage };
  yield { type: EVENT_TYPES.summary, time: end, data: summarise(run, counts) };
  yield { type: EVENT_TYPES.codingAgent, time: end, data: makeCodingAgentPack(content, policy) };
  yield { type: EVENT_TYPES.finished, time: end, subject: PHASE, data: describeEnd(run) };
}

interface Clock {
  readonly start: string;
  readonly end: string;
  readonly timeOf: (atMs: number | undefined) => string;
}

/** What was seen lies between start and end, also when the clock of the machine was set meanwhile. */
function makeClock({ startedMs, launchedMs, endedMs }: GeneralRun['record']): Clock {
  const lastMs = Math.max(startedMs, endedMs);
  const write = (ms: number): string => new Date(ms).toISOString();
  return {
    start: write(startedMs),
    end: write(lastMs),
    timeOf: (atMs = Infinity) => write(Math.min(lastMs, Math.max(startedMs, launchedMs) + atMs)),
  };
}

function describeStart({ content }: GeneralRun, base: ManifestIdentity): StartedData {
  return {
    profile_name: PROFILE_NAME,
    profile_version: EVIDENCE_VERSION,
    total_runs_aggregated: 1,
    version: base.producer.version,
    command: content.command,
    mode: content.mode,
    level: content.level,
    network: content.network,
    run_digest: base.sandbox?.run_digest ?? '',
    identity: computeIdentity(base),
  };
}

/** In the words of the older format, whose readers count these events and look at the code. */
function toDegraded({ rule, reason }: { rule: string; reason: string }): DegradedData {
  const isOfPolicy = /^(?:fs|net|unix)\.\w+: /.test(rule);
  return {
    reason_code: isOfPolicy ? 'policy_conflict' : 'backend_unavailable',
    degradation_mode: 'audit_fallback',
    component: rule,
    detail: reason,
  };
}

function* listChanges(changes: ChangeSet): Iterable<ChangeData> {
  for (const change of ['created', 'modified', 'removed', 'attributes'] as const)
    for (const path of changes[change]) yield { change, path };
}

interface Counts {
  readonly fs: number;
  readonly exec: number;
  readonly net: number;
  readonly refusals: number;
}

function summarise({ content }: GeneralRun, counts: Counts): SummaryData {
  const { controls } = content;
  const bound = (one: keyof typeof controls): object => ({
    ...controls[one],
    used: boundAndTell(controls[one].used),
  });
  return {
    command: content.command,
    counters: content.counters,
    notes: [],
    fs_count: counts.fs,
    exec_count: counts.exec,
    net_count: counts.net,
    refusal_count: counts.refusals,
    degradation_count: content.sandbox_degradations.length,
    controls: {
      egress: bound('egress'),
      writes: bound('writes'),
      configuration: bound('configuration'),
    },
    statements: content.statements,
    end: content.end,
  };
}

function describeEnd({ content }: GeneralRun): FinishedData {
  const { entries } = content;
  return {
    files_count: Object.keys(entries.files).length,
    network_count: Object.keys(entries.network).length,
    processes_count: Object.keys(entries.processes).length,
    sandbox_degradation_count: content.sandbox_degradations.length,
    integrity_scope: null,
    end: content.end,
  };
}
