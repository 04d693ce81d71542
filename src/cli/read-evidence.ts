import { readFileSync } from 'node:fs';
import { readPlainYaml } from '../artifacts/yaml-reader.ts';
import { AssayError } from '../core/errors.ts';
import { checkEvidence } from '../evidence/evidence-digest.ts';
import type { Evidence } from '../evidence/evidence.ts';

/** Reads an evidence profile, YAML or JSON, and makes sure that it is as assay wrote it. */
export async function readEvidence(file: string): Promise<Evidence> {
  const text = readText(file);
  let parsed: unknown;
  try {
    parsed = text.startsWith('{')
      ? JSON.parse(text)
      : (readPlainYaml(text) ?? (await import('yaml')).parse(text));
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.split('\n');
    throw refuse(file, `it is neither YAML nor JSON (${reason})`, cause);
  }
  const [problem] = checkEvidence(parsed);
  if (problem) throw refuse(file, problem.message);
  return parsed as Evidence;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refuse(file, (cause as Error).message, cause);
  }
}

function refuse(file: string, reason: string, cause?: unknown): AssayError {
  return new AssayError('E_EVIDENCE_INVALID', `Cannot use "${file}" as evidence: ${reason}`, {
    hint: 'Name the file that ends in .evidence.yaml or .evidence.json, as it was written',
    cause,
  });
}
