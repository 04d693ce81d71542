import type { LimitEvent, Surface } from '../observe/event.ts';
import { type Changes, type ChangeSet, findChanges } from './changes.ts';
import { makeControls } from './controls.ts';
import { listRefusals, makeEntries } from './entries.ts';
import { EVIDENCE_KIND, EVIDENCE_VERSION, type Entries, type EvidenceContent } from './evidence.ts';
import { makePlacer } from './needed-places.ts';
import { normalise, type Normalised } from './normalise/normalise.ts';
import { NORMALISATION_RULES } from './normalise/rules.ts';
import { computeRunId, type RunId } from './run-id.ts';
import type { RunRecord } from './run-record.ts';
import { showChanges } from './shown-changes.ts';
import { makeStatements } from './statements.ts';

/** A run and what any equal run has as well: every artifact is made from it. */
export interface GeneralRun {
  readonly record: RunRecord;
  readonly normalised: Normalised;
  readonly id: RunId;
  readonly content: EvidenceContent;
  /** By their real names. */
  readonly changes: Changes;
  /** Whether the content shows a changed path as it is. */
  readonly isShown: (path: string) => boolean;
  readonly isBorn: (image: string) => boolean;
}

/** `name` is that of the profile. */
export function generaliseRun(record: RunRecord, { name }: { readonly name: string }): GeneralRun {
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
    name,
  });
  return { record, normalised, id, content, changes, isShown: shown.isShown, isBorn };
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
    sandbox_degradations: normalised.degradations,
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
    policy: {
      name: namePolicy(normalised.textOf(record.policy.name)),
      default: record.policy.isDefault,
    },
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

function listLimits({ events }: RunRecord): string[] {
  const limits = events.filter((event): event is LimitEvent => event.kind === 'limit');
  return [...new Set(limits.map(({ limit }) => limit))].sort();
}

/** Numbers of distinct things, never of times: those depend on the machine. */
/** Where on this machine it lies does not matter. */
function namePolicy(name: string): string {
  return name.startsWith('/') ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** Of what was not watched there is no number, which would be zero. */
function countFacts({
  entries,
  changes,
  refusals,
  coverage,
}: Pick<EvidenceContent, 'entries' | 'changes' | 'refusals' | 'coverage'>): Record<string, number> {
  let read = 0;
  let written = 0;
  for (const ops of Object.values(entries.files)) {
    if (ops['read']?.['ok']) read++;
    if (Object.entries(ops).some(([op, outcomes]) => isChanging(op) && outcomes['ok'])) written++;
  }
  const ifWatched = (surface: Surface, counts: Record<string, number>): Record<string, number> =>
    coverage[surface].status === 'absent' ? {} : counts;
  return {
    ...ifWatched('reads', { files_read: read }),
    ...ifWatched('changes', {
      files_written: written,
      files_created: changes.created.length,
      files_modified: changes.modified.length,
      files_removed: changes.removed.length,
      files_with_new_attributes: changes.attributes.length,
    }),
    ...ifWatched('programs', { programs: Object.keys(entries.processes).length }),
    ...ifWatched('network', { endpoints: Object.keys(entries.network).length }),
    refusals: refusals.length,
  };
}

function isChanging(op: string): boolean {
  return op !== 'read' && op !== 'exec';
}
