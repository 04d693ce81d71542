import { canonicalJson } from '../core/canonical-json.ts';
import { sha256HexOf } from '../core/digest.ts';
import { EVIDENCE_KIND, EVIDENCE_VERSION } from './evidence.ts';

/** `sha256:` of the canonical JSON of an object, piece by piece: all of it at once would be a text of many megabytes. */
export function digestOf(value: object): string {
  return `sha256:${sha256HexOf(canonicalPieces(value))}`;
}

function* canonicalPieces(value: object): Generator<string> {
  let mark = '{';
  for (const [name, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield `${mark}${canonicalJson(name)}:`;
    if (isLargeObject(member)) yield* canonicalPieces(member);
    else yield canonicalJson(member);
    mark = ',';
  }
  yield mark === '{' ? '{}' : '}';
}

const LARGE = 1000;

function isLargeObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return (
    Object.keys(value).length > LARGE ||
    Object.values(value).some((member) => isLargeObject(member))
  );
}

export interface EvidenceProblem {
  readonly message: string;
}

/** Whether a value that was read from a file is evidence as it was written. Empty when it is. */
export function checkEvidence(parsed: unknown): EvidenceProblem[] {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return [{ message: 'it is not an evidence profile' }];
  const { digest, run, ...content } = parsed as Record<string, unknown>;
  if (content['kind'] !== EVIDENCE_KIND) return [{ message: 'it is not an evidence profile' }];
  if (content['version'] !== EVIDENCE_VERSION)
    return [
      {
        message: `it has version ${JSON.stringify(content['version'])}, not "${EVIDENCE_VERSION}"`,
      },
    ];
  if (typeof run !== 'object' || run === null) return [{ message: 'it has no run block' }];
  const { digest: runDigest, ...facts } = run as Record<string, unknown>;
  const problems: EvidenceProblem[] = [];
  if (digest !== digestOf(content))
    problems.push({ message: 'its content does not match its digest' });
  if (runDigest !== digestOf(facts))
    problems.push({ message: 'its run block does not match its digest' });
  return problems;
}
