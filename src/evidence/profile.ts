import { digestOf } from './evidence-digest.ts';
import type { Evidence } from './evidence.ts';
import { type GeneralRun, generaliseRun } from './general-run.ts';
import type { RulesOfRun } from './refusing-rules.ts';
import { makeRunFacts } from './run-facts.ts';
import type { RunRecord } from './run-record.ts';

export interface EvidenceOptions {
  /** Of the profile: the name of its file, without what follows the last dot. */
  readonly name: string;
  readonly assayVersion: string;
  /** What the machine says of itself: kernel, architecture. */
  readonly host: Readonly<Record<string, string>>;
  /** Of the run, to say what would have allowed what it refused, and what a suggestion must not grant. */
  readonly policy?: RulesOfRun | undefined;
}

/** A record → the evidence of one run: what any equal run has as well, and apart from it what is only of this one. */
export function makeEvidence(
  record: RunRecord,
  options: EvidenceOptions,
  general: GeneralRun = generaliseRun(record, options),
): Evidence {
  const { content } = general;
  const run = makeRunFacts({ ...general, ...options });
  return { ...content, digest: digestOf(content), run: { ...run, digest: digestOf(run) } };
}
