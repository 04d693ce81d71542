import { canonicalJson } from '../../core/canonical-json.ts';
import { compareLines, type CanonicalLine } from '../normalise/canonical-line.ts';
import { RunDigest } from '../run-digest.ts';
import { BUNDLE_SOURCE, EVENTS_NAME, type BundleEvent, type SandboxIdentity } from './bundle.ts';
import { BundleError, type BundleCode } from './bundle-error.ts';
import { computeIdentity, HASH_PREFIX, makeHasher } from './content-hash.ts';
import type { ManifestIdentity } from './content-hash.ts';
import { findDataProblem } from './data-shapes.ts';
import {
  EVENT_TYPES,
  type CoverageData,
  type DegradedData,
  type EndData,
  type LineData,
  type PolicyData,
  type StartedData,
} from './event-data.ts';

/** The order of the events. Those that are there exactly once are marked; a run of lines has one place. */
const STAGES: Readonly<Record<string, { readonly at: number; readonly isOnce?: true }>> = {
  [EVENT_TYPES.started]: { at: 0, isOnce: true },
  [EVENT_TYPES.policy]: { at: 1, isOnce: true },
  [EVENT_TYPES.environment]: { at: 2, isOnce: true },
  [EVENT_TYPES.layers]: { at: 3, isOnce: true },
  [EVENT_TYPES.degraded]: { at: 4 },
  [EVENT_TYPES.fs]: { at: 5 },
  [EVENT_TYPES.exec]: { at: 5 },
  [EVENT_TYPES.net]: { at: 5 },
  [EVENT_TYPES.limit]: { at: 5 },
  [EVENT_TYPES.folded]: { at: 5 },
  [EVENT_TYPES.change]: { at: 7 },
  [EVENT_TYPES.coverage]: { at: 8, isOnce: true },
  [EVENT_TYPES.summary]: { at: 9, isOnce: true },
  [EVENT_TYPES.codingAgent]: { at: 10, isOnce: true },
  [EVENT_TYPES.finished]: { at: 11, isOnce: true },
};
const LINES_AT = 5;
const SYSTEM_READS_AT = 6;

const KNOWN_ATTRIBUTES: ReadonlySet<string> = new Set<keyof BundleEvent>([
  'specversion',
  'type',
  'source',
  'id',
  'time',
  'datacontenttype',
  'subject',
  'assayrunid',
  'assayseq',
  'assayproducer',
  'assayproducerversion',
  'assaygit',
  'assaypolicyid',
  'assaypii',
  'assaysecrets',
  'assaycontenthash',
  'data',
]);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether an event can only come from a bundle of ours, whatever its manifest has lost. */
export function isSandboxEvent({ type, source, data }: BundleEvent): boolean {
  if (type === EVENT_TYPES.started)
    return typeof data === 'object' && data !== null && Object.hasOwn(data, 'identity');
  return type === EVENT_TYPES.policy && source === BUNDLE_SOURCE;
}

/** What is checked of the events of a bundle of ours beyond those of any bundle: order, identity, and the run digest. */
export class SandboxCheck {
  readonly #manifest: ManifestIdentity;
  readonly #sandbox: SandboxIdentity;
  #stage = -1;
  #line = 0;
  #git = '';
  #lastDegradation: string | undefined;
  #digest: RunDigest | undefined;
  #lastLine: CanonicalLine | undefined;

  constructor(manifest: ManifestIdentity, sandbox: SandboxIdentity) {
    this.#manifest = manifest;
    this.#sandbox = sandbox;
  }

  check(event: BundleEvent): void {
    this.#line += 1;
    this.#checkEnvelope(event);
    const problem = findDataProblem(event);
    if (problem !== undefined) throw this.#refuse('ContractEventData', `In data: ${problem}`);
    const stage = this.#enterStage(event);
    if (stage === LINES_AT || stage === SYSTEM_READS_AT)
      this.#checkFact(event.data as LineData, stage);
    else this.#checkStatement(event);
  }

  /** When there are no more events. */
  finish(): void {
    if (this.#stage !== STAGES[EVENT_TYPES.finished]?.at)
      throw this.#refuse('ContractEventMissing', `The last event is not ${EVENT_TYPES.finished}`);
    if (HASH_PREFIX + (this.#digest?.finish() ?? '') !== this.#sandbox.run_digest)
      throw new BundleError('IntegrityRunDigest', 'The run digest is not that of the events', {
        member: EVENTS_NAME,
      });
  }

  #checkEnvelope(event: BundleEvent): void {
    for (const name in event)
      if (!KNOWN_ATTRIBUTES.has(name))
        throw this.#refuse(
          'ContractEnvelope',
          `The event has an attribute that is not known: "${name}"`,
        );
    const { producer } = this.#manifest;
    if (this.#line === 1) this.#git = event.assaygit;
    const isOurs =
      event.source === BUNDLE_SOURCE &&
      event.datacontenttype === 'application/json' &&
      event.assayproducer === producer.name &&
      event.assayproducerversion === producer.version &&
      event.assaygit === (producer.git ?? this.#git) &&
      event.assaypolicyid === this.#sandbox.policy.digest;
    if (!isOurs)
      throw this.#refuse(
        'ContractEnvelope',
        'The attributes of the event disagree with the manifest',
      );
    if (!TIME.test(event.time))
      throw this.#refuse('ContractTime', 'The time is not UTC with milliseconds');
  }

  /** Every stage that has to be there must have been entered before a later one is. */
  #enterStage({ type, data }: BundleEvent): number {
    const entry = Object.hasOwn(STAGES, type) ? STAGES[type] : undefined;
    if (!entry) throw this.#refuse('ContractEventType', `The type "${type}" is not known`);
    const isSystem = type === EVENT_TYPES.fs && (data as { system?: unknown }).system === true;
    const stage = isSystem ? SYSTEM_READS_AT : entry.at;
    if (stage < this.#stage || (stage === this.#stage && entry.isOnce === true))
      throw this.#refuse('ContractEventOrder', `An event of type ${type} does not belong here`);
    if (stage === this.#stage) return stage;
    const missing = Object.entries(STAGES).find(
      ([, { at, isOnce }]) => isOnce === true && at > this.#stage && at < stage,
    );
    if (missing)
      throw this.#refuse('ContractEventMissing', `There is no event of type ${missing[0]}`);
    this.#lastLine = undefined;
    this.#stage = stage;
    return stage;
  }

  #checkFact(data: LineData, stage: number): void {
    const { op, path, target, outcome, program, refused_by: refusedBy, digest } = data;
    const line = { op, path, target, outcome, program, refusedBy, digest };
    if (this.#lastLine && compareLines(this.#lastLine, line) >= 0)
      throw this.#refuse(
        'ContractEventOrder',
        'The event is not in canonical order, or there twice',
      );
    this.#lastLine = line;
    if (stage === LINES_AT) this.#digest?.add(line);
  }

  #checkStatement({ type, data }: BundleEvent): void {
    if (type === EVENT_TYPES.started) this.#checkStarted(data as StartedData);
    else if (type === EVENT_TYPES.policy) this.#checkPolicy(data as PolicyData);
    else if (type === EVENT_TYPES.degraded) this.#addDegradation(data as DegradedData);
    else if (type === EVENT_TYPES.coverage) this.#checkCoverage(data as CoverageData);
    else if (type === EVENT_TYPES.summary || type === EVENT_TYPES.finished)
      this.#agree((data as { end: EndData }).end, this.#sandbox.end, 'how the run ended');
  }

  #checkStarted({ command, identity, run_digest, mode, level }: StartedData): void {
    if (identity !== computeIdentity(this.#manifest))
      throw this.#refuse(
        'IntegrityIdentity',
        'The manifest is not the one that the first event names',
      );
    this.#digest = openDigest(command, this.#sandbox.end);
    const sandbox = this.#sandbox;
    this.#agree(
      { run_digest, mode, level },
      { run_digest: sandbox.run_digest, mode: sandbox.mode, level: sandbox.level },
      'the run digest, the mode or the level',
    );
  }

  #checkPolicy({ name, digest, policy }: PolicyData): void {
    if (makeHasher()(canonicalJson(policy)) !== digest)
      throw this.#refuse(
        'IntegrityIdentity',
        'The policy is not the one that its digest was made of',
      );
    this.#agree({ name, digest }, this.#sandbox.policy, 'the policy');
  }

  #checkCoverage({ surfaces }: CoverageData): void {
    const statuses = Object.entries(surfaces).map(([name, { status }]) => [name, status] as const);
    this.#agree(Object.fromEntries(statuses), this.#sandbox.coverage, 'the coverage');
  }

  #addDegradation({ component, detail }: DegradedData): void {
    const text = describeDegradation(component, detail);
    const last = this.#lastDegradation;
    if (last !== undefined && text <= last)
      throw this.#refuse(
        'ContractEventOrder',
        'The event is not in canonical order, or there twice',
      );
    this.#lastDegradation = text;
    this.#digest?.addDegradation(text);
  }

  #agree(event: unknown, manifest: unknown, what: string): void {
    if (canonicalJson(event) !== canonicalJson(manifest))
      throw this.#refuse(
        'ContractDisagreement',
        `The event and the manifest disagree about ${what}`,
      );
  }

  #refuse(code: BundleCode, message: string): BundleError {
    return new BundleError(code, message, { member: EVENTS_NAME, line: this.#line });
  }
}

function openDigest(command: readonly string[], end: EndData): RunDigest {
  const { exit_code: exitCode, signal, timed_out: isTimedOut, limit, exec_error: execError } = end;
  return new RunDigest({
    command,
    end: { execError: execError ?? '', exitCode, isTimedOut, limit: limit ?? '', signal },
  });
}

/** As it stands in the run digest. */
export function describeDegradation(component: string, detail: string | undefined): string {
  return detail === undefined ? component : `${component}: ${detail}`;
}
