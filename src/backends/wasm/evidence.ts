import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { Coverage, Surface } from '../backend.ts';
import type { ExecEvidence, ExecOptions, Outcome } from '../sandbox.ts';

export const COVERAGE: Readonly<Record<Surface, Coverage>> = {
  files: 'partial',
  programs: 'complete',
  network: 'complete',
  environment: 'complete',
};

interface EvidenceInput {
  readonly argv: readonly string[];
  readonly options: ExecOptions;
  readonly outcome: Outcome;
}

export function describeEvidence({ argv, options, outcome }: EvidenceInput): ExecEvidence {
  const { codeSha256 } = options;
  const facts = { argv, codeSha256: codeSha256 ?? null, outcome: outcome.kind };
  const runId = createHash('sha256').update(canonicalJson(facts)).digest('hex');
  return { runId, coverage: COVERAGE, codeSha256 };
}
