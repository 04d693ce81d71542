import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { suggestPolicy } from '../../artifacts/suggest-policy.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { ParsedCommand } from '../parse.ts';
import { readEvidence, refuseEvidence } from '../read-evidence.ts';

/** `assay policy suggest`: one policy for all the runs whose evidence is given. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const runs: Evidence[] = [];
  for (const file of rest) {
    const evidence = await readEvidence(file);
    if (!('rules' in evidence.run.needs))
      throw refuseEvidence(file, 'it does not say what the policy of the run denies');
    runs.push(evidence);
  }
  const { text } = suggestPolicy(runs, flags.has('json') ? 'json' : 'yaml');
  const output = flags.text('output');
  if (output === undefined) {
    process.stdout.write(text);
    return 0;
  }
  const file = new AtomicFile(output, 'the policy');
  try {
    file.write([text]);
  } finally {
    file.close();
  }
  return 0;
}
