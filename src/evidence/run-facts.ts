import type { Event, Program } from '../observe/event.ts';
import { TRUNCATED } from '../observe/program-table.ts';
import { FOREIGN_SOCKET } from '../plan/broker.ts';
import type { Policy } from '../policy/policy.ts';
import { type RefusedOp, suggestAllow } from '../policy/suggest-flag.ts';
import type { Changes, ChangeSet } from './changes.ts';
import type { RunConnection, RunFacts, RunRefusal } from './evidence.ts';
import { findNeeds } from './needs.ts';
import type { Normalised } from './normalise/normalise.ts';
import type { RulesOfRun } from './refusing-rules.ts';
import type { RunId } from './run-id.ts';
import type { RunRecord } from './run-record.ts';
import { sortUnique, toRecord } from './sorting.ts';

const MAX_REFUSALS = 1000;
const MAX_HITS = 10_000;
const MAX_COMMANDS_OF_ONE = 16;

export interface RunFactsInput {
  readonly record: RunRecord;
  readonly normalised: Normalised;
  readonly id: RunId;
  readonly changes: Changes;
  /** Whether the content of the evidence shows a changed path as it is. */
  readonly isShown: (path: string) => boolean;
  readonly isBorn: (image: string) => boolean;
  readonly assayVersion: string;
  readonly host: Readonly<Record<string, string>>;
  readonly policy?: RulesOfRun | undefined;
}

export function makeRunFacts(input: RunFactsInput): RunFacts {
  const { record, normalised, id, changes } = input;
  const { variables, startedMs, endedMs } = record;
  const pathOf = (path: string): string => normalised.pathOf(path);
  const images = new Map(record.programs.map((program) => [program.id, pathOf(program.image)]));
  return {
    created_at: new Date(startedMs).toISOString(),
    finished_at: new Date(endedMs).toISOString(),
    duration_ms: endedMs - startedMs,
    assay_version: input.assayVersion,
    host: input.host,
    user: variables.user,
    directories: { cwd: variables.cwd, home: variables.home, tmpdir: variables.tmpdir },
    run_digest: `sha256:${id.digest}`,
    system_reads_digest: `sha256:${id.readsSystemDigest}`,
    hits: countHits(record.events, pathOf),
    starts: countStarts(record.programs, images),
    built_digests: listBuilt(record.programs, input.isBorn),
    commands: listCommands(record.programs, images),
    masked: normalised.folded,
    real_changes: mapChanges(changes, (paths) => paths.filter((path) => !input.isShown(path))),
    unverified_changes: changes.unverified,
    temporary: mapChanges(changes.temporary, (paths) => paths.length),
    folded: sortUnique(
      record.overflow.map(({ op, directory, count, digest }) => ({ op, directory, count, digest })),
      (fold) => Object.values(fold),
    ),
    connections: listConnections(record),
    refusals: listRunRefusals(input),
    hidden: [...new Set(record.hidden)].sort(),
    needs: findNeeds({
      ...record,
      pathOf,
      rules: input.policy?.fs ?? [],
      netRules: input.policy?.net ?? [],
    }),
  };
}

function mapChanges<T>(
  { created, modified, removed, attributes }: ChangeSet,
  convert: (paths: readonly string[]) => T,
): Record<keyof ChangeSet, T> {
  return {
    created: convert(created),
    modified: convert(modified),
    removed: convert(removed),
    attributes: convert(attributes),
  };
}

function countHits(
  events: readonly Event[],
  pathOf: (path: string) => string,
): Record<string, number> {
  const hits = new Map<string, number>();
  for (const event of events) {
    if (!('count' in event) || event.count < 2) continue;
    const key = `${event.kind === 'exec' ? 'exec' : event.op} ${subjectOf(event, pathOf)}`;
    hits.set(key, (hits.get(key) ?? 0) + event.count);
  }
  if (hits.size <= MAX_HITS) return toRecord(hits, (count) => count);
  const most = [...hits].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MAX_HITS);
  return toRecord(new Map(most), (count) => count);
}

type Attempt = Extract<Event, { count: number }>;

function subjectOf(event: Attempt, pathOf: (path: string) => string): string {
  if (event.kind !== 'network') return pathOf(event.path);
  const { family, host, port } = event;
  if (family === 'unix') return `unix:${host.startsWith('/') ? pathOf(host) : host}`;
  const address = host.includes(':') ? `[${host}]` : host;
  return `${family}:${address}${port === undefined ? '' : `:${port}`}`;
}

function countStarts(
  programs: readonly Program[],
  images: ReadonlyMap<number, string>,
): Record<string, number> {
  const starts = new Map<string, number>();
  for (const { id, count } of programs) {
    const image = images.get(id) ?? '';
    starts.set(image, (starts.get(image) ?? 0) + count);
  }
  return toRecord(starts, (count) => count);
}

/** An image that is made during the run may be made anew, and run again. */
function listBuilt(
  programs: readonly Program[],
  isBorn: (image: string) => boolean,
): Record<string, string[]> {
  const built = new Map<string, string[]>();
  for (const { image, digest } of programs)
    if (digest !== undefined && isBorn(image))
      built.set(image, [...(built.get(image) ?? []), `sha256:${digest}`]);
  return toRecord(built, (digests) => sortUnique(digests, (digest) => [digest]));
}

function listCommands(
  programs: readonly Program[],
  images: ReadonlyMap<number, string>,
): Record<string, string[][]> {
  const lines = new Map<string, string[][]>();
  for (const { id, commands } of programs) {
    const image = images.get(id) ?? '';
    const known = lines.get(image) ?? [];
    lines.set(image, known);
    for (const command of commands)
      known.push(known.length < MAX_COMMANDS_OF_ONE ? [...command] : [TRUNCATED]);
  }
  return toRecord(lines, (commands) => sortUnique(commands, (command) => command));
}

function listConnections({ egress }: RunRecord): Record<string, RunConnection> {
  const byEndpoint = new Map((egress?.connections ?? []).map((one) => [one.endpoint, one]));
  return toRecord(byEndpoint, (one) => ({
    count: one.count,
    refused: one.refused,
    bytes_sent: one.sent,
    bytes_received: one.received,
    duration_ms: one.durationMs,
    addresses: one.addresses,
    doors: one.doors,
    rules: one.rules,
    notes: one.notes,
  }));
}

function listRunRefusals({ record, policy }: RunFactsInput): RunRefusal[] {
  const refusals: RunRefusal[] = [];
  for (const event of record.events) {
    if (!('decision' in event) || !event.decision) continue;
    if (refusals.length >= MAX_REFUSALS) break;
    const { rule, layer } = event.decision;
    refusals.push({
      op: nameAttempt(event),
      subject: subjectOf(event, (path) => path),
      rule,
      layer,
      count: event.count,
      hint: policy ? makeHint(event, policy, record) : null,
    });
  }
  return sortUnique(refusals, ({ op, subject, rule, layer }) => [subject, op, layer, rule ?? '']);
}

/** What is refused is not known to be a new file, and goes by the same name in a dry run. */
function nameAttempt(event: Attempt): string {
  if (event.kind === 'exec') return 'exec';
  return event.op === 'create' && event.decision?.layer !== 'limit' ? 'write' : event.op;
}

/** What would have allowed it: a flag or a line to add, or a rule to take out. */
function makeHint(
  event: Attempt,
  policy: Pick<Policy, 'fs'>,
  { variables, egress, isThere }: RunRecord,
): string | null {
  if (event.decision?.layer === 'egress') return makeEgressHint(event, egress);
  const asked = toRefused(event);
  if (event.decision?.rule === FOREIGN_SOCKET.rule) return null;
  if (!asked || event.decision?.layer === 'git-guard' || event.decision?.layer === 'limit')
    return null;
  const { flag, policyLine, refusedBy } = suggestAllow(asked.op, asked.path, {
    policy,
    variables,
    isThere,
  });
  const way = flag ?? policyLine;
  if (way !== undefined) return `allow it with ${way}`;
  return refusedBy
    ? `take out ${refusedBy.origin.key}: ${refusedBy.origin.text} to allow it`
    : null;
}

function makeEgressHint(event: Attempt, egress: RunRecord['egress']): string | null {
  const subject = subjectOf(event, (path) => path);
  const told = egress?.hints.get(subject);
  if (told !== undefined) return `allow it with ${told}`;
  // Of an address that has no way to a door; a rule that refuses it would win over the flag.
  if (event.decision?.rule !== null || !/^tcp:[^a-z]/.test(subject)) return null;
  return `allow it with --allow-net ${subject.slice(4)}`;
}

function toRefused(event: Attempt): { op: RefusedOp; path: string } | undefined {
  if (event.kind === 'network') {
    if (event.family !== 'unix') return { op: 'connect', path: subjectOf(event, (path) => path) };
    return event.host.startsWith('/') ? { op: 'connect', path: event.host } : undefined;
  }
  const op = event.kind === 'exec' ? 'exec' : event.op === 'read' ? 'read' : 'write';
  return { op, path: event.path };
}
