import { readFileSync } from 'node:fs';
import { readPlainYaml } from '../artifacts/yaml-reader.ts';
import { AssayError } from '../core/errors.ts';
import { checkEvidence } from '../evidence/evidence-digest.ts';
import type { Evidence } from '../evidence/evidence.ts';

/** Reads an evidence profile, YAML or JSON, and makes sure that it is as assay wrote it. */
export async function readEvidence(file: string): Promise<Evidence> {
  const parsed = await readProfileFile(file);
  const [problem] = checkEvidence(parsed);
  if (problem) throw refuseEvidence(file, problem.message);
  return parsed as Evidence;
}

/** What is in a file of YAML or JSON, whatever that is. */
export async function readProfileFile(file: string): Promise<unknown> {
  const text = readText(file);
  try {
    return text.startsWith('{')
      ? JSON.parse(text)
      : (readPlainYaml(text) ?? (await import('yaml')).parse(text));
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.split('\n');
    throw refuseEvidence(file, `it is neither YAML nor JSON (${reason})`, cause);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refuseEvidence(file, (cause as Error).message, cause);
  }
}

export function refuseEvidence(file: string, reason: string, cause?: unknown): AssayError {
  return new AssayError('E_EVIDENCE_INVALID', `Cannot use "${file}" as evidence: ${reason}`, {
    hint: 'Name the file that ends in .evidence.yaml or .evidence.json, as it was written',
    cause,
  });
}
