import { type Comparison, isAboutRun } from '../evidence/diff/compare.ts';
import type { Group, JudgedDifference } from '../evidence/diff/difference.ts';
import type { Gate } from '../evidence/diff/gate.ts';
import type { Side } from '../evidence/diff/side.ts';
import { writeJson } from './json-text.ts';
import type { PlainValue } from './yaml-text.ts';

export const DIFF_SCHEMA = 'assay.evidence-diff.v1';

/** For programs: everything, in an order that depends on nothing but the bundles. */
export function* writeDiffJson(comparison: Comparison, gate: Gate | undefined): Generator<string> {
  yield* writeJson(toDocument(comparison, gate));
}

function toDocument(comparison: Comparison, gate: Gate | undefined): PlainValue {
  const { baseline, candidate, differences, counts, doubts, notCompared } = comparison;
  return {
    schema: DIFF_SCHEMA,
    equal: !differences.some(isAboutRun),
    comparison_scope: {
      basis: 'retained_verified_events',
      absence_completeness: doubts.length === 0 ? 'established' : 'not_established',
      doubts,
      not_compared: notCompared,
    },
    baseline: describeSide(baseline),
    candidate: describeSide(candidate),
    summary: {
      event_count_delta: candidate.manifest.event_count - baseline.manifest.event_count,
      duration_delta: null,
      differences: differences.length,
      kinds: { ...counts },
    },
    gate: gate
      ? {
          fail_on: gate.failOn,
          passed: gate.failed.length === 0,
          failed: gate.failed.map(({ kind, count }) => ({ kind, count })),
          warnings: gate.warnings,
        }
      : null,
    network: listSubjects(differences, 'network'),
    filesystem: listSubjects(differences, 'files'),
    processes: listSubjects(differences, 'programs'),
    differences: differences.map(({ group, change, subject, kinds, before, after }) => ({
      group,
      change,
      subject,
      kinds,
      before,
      after,
    })),
  };
}

function describeSide({ manifest, kind, sha256, timeRange }: Side): PlainValue {
  const { run_id, event_count, run_root, bundle_id, producer } = manifest;
  return {
    run_id,
    event_count,
    run_root,
    time_range: timeRange ?? null,
    bundle_id,
    sha256,
    format: kind,
    producer: { name: producer.name, version: producer.version },
  };
}

function listSubjects(differences: readonly JudgedDifference[], wanted: Group): PlainValue {
  const pick = (change: JudgedDifference['change']): string[] =>
    differences
      .filter((difference) => difference.group === wanted && difference.change === change)
      .map(({ subject }) => subject);
  return { added: pick('new'), removed: pick('gone'), changed: pick('changed') };
}
