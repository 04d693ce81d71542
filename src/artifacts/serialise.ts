import type { Evidence } from '../evidence/evidence.ts';
import { writeJson } from './json-text.ts';
import { type PlainValue, writeYaml } from './yaml-text.ts';

export type ArtifactFormat = 'yaml' | 'json';

/** The text of an evidence profile, in pieces. The same evidence always gives the same text. */
export function serialiseEvidence(evidence: Evidence, format: ArtifactFormat): Iterable<string> {
  const value = evidence as unknown as PlainValue;
  return format === 'yaml' ? writeYaml(value) : writeJson(value);
}
