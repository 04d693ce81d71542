import { sha256Hex } from '../../core/digest.ts';
import type { DegradedData } from '../bundle/event-data.ts';
import type { Evidence } from '../evidence.ts';
import { MalformedDocument } from '../interop/judgement.ts';
import { isObject, type JsonObject, Shape } from '../interop/shape.ts';
import type { EntryKind, UpstreamEntry, UpstreamSource } from './upstream-run.ts';

const GROUPS = { file: 'files', network: 'network', program: 'processes' } as const;

/** An evidence profile of the older format. Throws MalformedDocument for what is none. */
export function readUpstreamProfile(value: unknown): UpstreamSource {
  const shape = new Shape(value, '');
  const name = shape.text('name');
  const runIds = shape.has('run_ids') ? shape.texts('run_ids') : [];
  const entries = isObject((value as JsonObject)['entries'])
    ? ((value as JsonObject)['entries'] as JsonObject)
    : {};
  const groups = {
    file: readGroup(entries, 'files'),
    network: readGroup(entries, 'network'),
    program: readGroup(entries, 'processes'),
  };
  return {
    name,
    version: shape.text('version'),
    totalRuns: shape.integer('total_runs'),
    runId: runIds.at(-1) ?? `run_${sha256Hex(name).slice(0, 16)}`,
    time: readTime(shape.text('updated_at')),
    degradations: readDegradations((value as JsonObject)['sandbox_degradations']),
    entries: (kind) => groups[kind],
  };
}

function readGroup(entries: JsonObject, name: string): readonly UpstreamEntry[] {
  const group = entries[name] ?? {};
  if (!isObject(group)) throw new MalformedDocument(`entries.${name} is not an object`);
  return Object.keys(group)
    .sort()
    .map((subject) => {
      const entry = new Shape(group[subject], `entries.${name}["${subject}"]`);
      return {
        subject,
        hits: entry.integer('hits_total'),
        full: {
          first_seen: entry.integer('first_seen'),
          last_seen: entry.integer('last_seen'),
          runs_seen: entry.integer('runs_seen'),
        },
      };
    });
}

function readDegradations(value: unknown): readonly DegradedData[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new MalformedDocument('sandbox_degradations is not a list');
  return value.map((one, index) => {
    const shape = new Shape(one, `sandbox_degradations[${index}]`);
    return {
      reason_code: shape.text('reason_code'),
      degradation_mode: shape.text('degradation_mode'),
      component: shape.text('component'),
      ...(shape.has('detail') && { detail: shape.text('detail') }),
    };
  });
}

function readTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new MalformedDocument('updated_at is not a time');
  return time.toISOString().replace('.000Z', 'Z');
}

/** An evidence profile of this assay. It knows no first and last time, and more than one outcome. */
export function toProfileSource(evidence: Evidence): UpstreamSource {
  const { name, version, total_runs, run_ids, run, sandbox_degradations, entries } = evidence;
  return {
    name,
    version,
    totalRuns: total_runs,
    runId: run_ids.at(-1) ?? '',
    time: run.finished_at,
    degradations: sandbox_degradations.map(({ rule, reason }) => ({
      reason_code: 'policy_conflict',
      degradation_mode: 'audit_fallback',
      component: rule,
      detail: reason,
    })),
    entries: (kind) =>
      Object.keys(entries[GROUPS[kind]]).map((subject) => ({
        subject,
        hits: countHits(evidence, kind, subject),
      })),
  };
}

function countHits({ run, entries }: Evidence, kind: EntryKind, subject: string): number {
  if (kind === 'program') return run.starts[subject] ?? 1;
  const operations = Object.keys(entries[GROUPS[kind]][subject] ?? {});
  return operations.reduce((sum, op) => sum + (run.hits[`${op} ${subject}`] ?? 1), 0);
}
