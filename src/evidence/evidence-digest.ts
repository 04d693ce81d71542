import { canonicalJson } from '../core/canonical-json.ts';
import { sha256HexOf } from '../core/digest.ts';
import { EVIDENCE_KIND, EVIDENCE_VERSION } from './evidence.ts';

/** `sha256:` of the canonical JSON of an object, piece by piece: all of it at once would be a text of many megabytes. */
export function digestOf(value: object): string {
  return `sha256:${sha256HexOf(canonicalPieces(value))}`;
}

function* canonicalPieces(value: object, known = new WeakMap<object, string>()): Generator<string> {
  let mark = '{';
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    yield `${mark}${canonicalJson(name)}:`;
    if (isLarge(member)) yield* canonicalPieces(member, known);
    else yield writeOnce(member, known);
    mark = ',';
  }
  yield mark === '{' ? '{}' : '}';
}

/** Many files share what was done to them, and have the text of it in common. */
function writeOnce(value: unknown, known: WeakMap<object, string>): string {
  if (typeof value !== 'object' || value === null) return canonicalJson(value);
  let text = known.get(value);
  if (text === undefined) {
    text = canonicalJson(value);
    known.set(value, text);
  }
  return text;
}

const LARGE = 1000;

/** An object with many members, or with one in it that has. */
function isLarge(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  if (names.length > LARGE) return true;
  return names.some((name) => isLarge((value as Record<string, unknown>)[name]));
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
