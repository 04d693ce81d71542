import type { PolicyDocument } from './document.ts';
import { isJsonFile, parsePolicyJson, refuseHuge, toDocument } from './parse-json.ts';
import { readYaml } from './yaml-source.ts';

/** The text of a policy file → a checked document. Throws a PolicyError with every problem in the file. */
export function parsePolicyText(text: string, file: string): PolicyDocument {
  if (isJsonFile(file)) return parsePolicyJson(text, file);
  refuseHuge(text, file);
  return toDocument(readYaml(text), text, file);
}
