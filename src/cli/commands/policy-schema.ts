import { policyJsonSchema } from '../../policy/json-schema.ts';

/** `assay policy schema`: the JSON Schema of a policy file, for editors. */
export function run(): Promise<number> {
  process.stdout.write(`${JSON.stringify(policyJsonSchema(), null, 2)}\n`);
  return Promise.resolve(0);
}
