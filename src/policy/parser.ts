import type { PolicyDocument } from './document.ts';
import { isPresetName } from './extend.ts';

export type ParsePolicy = (text: string, file: string) => PolicyDocument;

/** The parser that the policy in `file` needs. YAML is loaded only when it, or a file it extends, may be YAML. */
export async function choosePolicyParser(text: string, file: string): Promise<ParsePolicy> {
  if (file.endsWith('.json')) {
    const { parsePolicyJson } = await import('./parse-json.ts');
    const { data } = parsePolicyJson(text, file);
    const isAlone = (data.extends ?? []).every(isPresetName);
    if (isAlone) return parsePolicyJson;
  }
  const { parsePolicyText } = await import('./load.ts');
  return parsePolicyText;
}
