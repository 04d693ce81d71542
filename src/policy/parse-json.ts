import type { PolicyDocument } from './document.ts';
import { readJson } from './json-source.ts';
import { makeSnippet, placeAt, PolicyError } from './problems.ts';
import type { ParsedSource } from './source-node.ts';
import { validatePolicy } from './validate.ts';

/** A policy written in JSON. Kept apart from YAML so that it loads without the YAML parser. */
export function parsePolicyJson(text: string, file: string): PolicyDocument {
  return toDocument(readJson(text), text, file);
}

export function isJsonFile(file: string): boolean {
  return file.endsWith('.json');
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
