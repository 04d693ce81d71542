import type { PolicyDocument } from './document.ts';
import { readJson } from './json-source.ts';
import { makeSnippet, placeAt, PolicyError } from './problems.ts';
import type { ParsedSource } from './source-node.ts';
import { validatePolicy } from './validate.ts';

/** A policy written in JSON. Kept apart from YAML so that it loads without the YAML parser. */
export function parsePolicyJson(text: string, file: string): PolicyDocument {
  refuseHuge(text, file);
  return toDocument(readJson(text), text, file);
}

export function isJsonFile(file: string): boolean {
  return file.endsWith('.json');
}

/** No policy is this long; what is would only keep the loader busy. */
const MAX_LENGTH = 256 * 1024;

export function refuseHuge(text: string, file: string): void {
  if (text.length <= MAX_LENGTH) return;
  throw new PolicyError([
    {
      message: `the policy is longer than ${MAX_LENGTH} characters`,
      at: { file, line: 1, column: 1 },
    },
  ]);
}

export function toDocument(source: ParsedSource, text: string, file: string): PolicyDocument {
  if ('problems' in source) {
    throw new PolicyError(
      source.problems.map(({ offset, problem, hint }) => {
        const at = placeAt(text, file, offset);
        return { message: problem, hint, at, snippet: makeSnippet(text, at) };
      }),
    );
  }
  const { data, places, problems } = validatePolicy(source.root, text, file);
  if (problems.length > 0) throw new PolicyError(problems);
  return { name: file, data, file: { path: file, text, places } };
}
