import type { DegradationEvent, LimitEvent } from '../observe/event.ts';
import type { Policy } from '../policy/policy.ts';
import { type ChangeSet, findChanges } from './changes.ts';
import { makeControls } from './controls.ts';
import { digestOf } from './evidence-digest.ts';
import { listRefusals, makeEntries } from './entries.ts';
import {
  EVIDENCE_KIND,
  EVIDENCE_VERSION,
  type Entries,
  type Evidence,
  type EvidenceContent,
} from './evidence.ts';
import { makePlacer } from './needed-places.ts';
import { normalise, type Normalised } from './normalise/normalise.ts';
import { NORMALISATION_RULES } from './normalise/rules.ts';
import { makeRunFacts } from './run-facts.ts';
import { computeRunId } from './run-id.ts';
import type { RunRecord } from './run-record.ts';
import { sortUnique } from './sorting.ts';
import { showChanges } from './shown-changes.ts';
import { makeStatements } from './statements.ts';

export interface EvidenceOptions {
  /** Of the profile: the name of its file, without what follows the last dot. */
  readonly name: string;
  readonly assayVersion: string;
  /** What the machine says of itself: kernel, architecture. */
  readonly host: Readonly<Record<string, string>>;
  /** Of the run, to say what would have allowed what it refused. */
  readonly policy?: Pick<Policy, 'fs'> | undefined;
}

/** A record → the evidence of one run: what any equal run has as well, and apart from it what is only of this one. */
export function makeEvidence(record: RunRecord, options: EvidenceOptions): Evidence {
  const normalised = normalise(record);
  const id = computeRunId(record, normalised);
  const isBorn = makeBirthTest(record);
  const entries = makeEntries({
    lines: normalised.lines,
    programs: record.programs,
    pathOf: (path) => normalised.pathOf(path),
    isBorn,
  });
  const changes = findChanges(record);
  const shown = showChanges(changes, { normalised, entries, record });
  const content = makeContent(record, {
    normalised,
    entries,
    changes: shown.changes,
    runId: id.runId,
    name: options.name,
  });
  const run = makeRunFacts({
    record,
    normalised,
    id,
    changes,
    isShown: shown.isShown,
    isBorn,
    ...options,
  });
  return { ...content, digest: digestOf(content), run: { ...run, digest: digestOf(run) } };
}

function makeBirthTest(record: RunRecord): (path: string) => boolean {
  const placer = makePlacer(record.events);
  return (path) => placer.place(path).isNew;
}

interface ContentInput {
  readonly normalised: Normalised;
  readonly entries: Entries;
  readonly changes: ChangeSet;
  readonly runId: string;
  readonly name: string;
}

function makeContent(record: RunRecord, input: ContentInput): EvidenceContent {
  const { normalised, entries, changes } = input;
  const { end } = record;
  const facts = {
    mode: record.mode,
    network: record.network,
    level: record.level,
    entries,
    refusals: listRefusals(normalised.lines),
    changes,
    sandbox_degradations: listDegradations(record, normalised),
    layers: record.layers.map(({ layer, status, reason }) => ({ layer, status, reason })),
    coverage: record.coverage,
  };
  // In the order of the file: what a reader asks first comes first.
  return {
    version: EVIDENCE_VERSION,
    kind: EVIDENCE_KIND,
    name: input.name,
    run_ids: [input.runId],
    total_runs: 1,
    command: normalised.command,
    policy: { name: normalised.textOf(record.policy.name), default: record.policy.isDefault },
    mode: facts.mode,
    level: facts.level,
    network: facts.network,
    end: {
      exit_code: end.exitCode,
      signal: end.signal,
      timed_out: end.isTimedOut,
      limit: end.limit || null,
      exec_error: end.execError ?? null,
    },
    controls: makeControls(facts),
    statements: makeStatements(facts),
    counters: countFacts(facts),
    refusals: facts.refusals,
    limits: listLimits(record),
    changes,
    entries,
    environment: {
      passed: [...record.environment.passed].sort(),
      removed: [...record.environment.removed].sort(),
    },
    sandbox_degradations: facts.sandbox_degradations,
    layers: facts.layers,
    coverage: facts.coverage,
    normalisation: NORMALISATION_RULES.map(({ name, appliesTo, does, hides }) => ({
      name,
      applies_to: appliesTo,
      does,
      hides,
    })),
  };
}

function listDegradations(
  { events }: RunRecord,
  normalised: Normalised,
): EvidenceContent['sandbox_degradations'] {
  return sortUnique(
    events
      .filter((event): event is DegradationEvent => event.kind === 'degradation')
      .map(({ rule, reason }) => ({
        rule: normalised.textOf(rule),
        reason: normalised.textOf(reason),
      })),
    ({ rule, reason }) => [rule, reason],
  );
}

function listLimits({ events }: RunRecord): string[] {
  const limits = events.filter((event): event is LimitEvent => event.kind === 'limit');
  return [...new Set(limits.map(({ limit }) => limit))].sort();
}

/** Numbers of distinct things, never of times: those depend on the machine. */
function countFacts({
  entries,
  changes,
  refusals,
}: Pick<EvidenceContent, 'entries' | 'changes' | 'refusals'>): Record<string, number> {
  let read = 0;
  let written = 0;
  for (const ops of Object.values(entries.files)) {
    if (ops['read']?.['ok']) read++;
    if (Object.entries(ops).some(([op, outcomes]) => isChanging(op) && outcomes['ok'])) written++;
  }
  return {
    files_read: read,
    files_written: written,
    files_created: changes.created.length,
    files_modified: changes.modified.length,
    files_removed: changes.removed.length,
    files_with_new_attributes: changes.attributes.length,
    programs: Object.keys(entries.processes).length,
    endpoints: Object.keys(entries.network).length,
    refusals: refusals.length,
  };
}

export function isChanging(op: string): boolean {
  return op !== 'read' && op !== 'exec';
}
