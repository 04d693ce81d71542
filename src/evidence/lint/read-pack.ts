import { AssayError } from '../../core/errors.ts';
import { makeSnippet, placeAt } from '../../policy/problems.ts';
import { readYaml } from '../../policy/yaml-source.ts';
import type { Pack } from './pack.ts';
import type { PackProblem } from './pack-fields.ts';
import { readPackNode } from './pack-reader.ts';

/** No pack is this long; what is would only keep the loader busy. */
const MAX_LENGTH = 256 * 1024;

/** The pack in a file of YAML or JSON. Everything that is wrong with it is one error. */
export function readPack(text: string, file: string): Pack {
  if (text.length > MAX_LENGTH)
    throw refuse(
      [{ offset: 0, problem: `a pack is no longer than ${MAX_LENGTH} characters` }],
      '',
      file,
    );
  const source = readYaml(text);
  if ('problems' in source)
    throw refuse(
      source.problems.map((one) => ({
        ...one,
        problem: one.problem.replace('a policy file', 'a rule pack'),
      })),
      text,
      file,
    );
  const { pack, problems } = readPackNode(source.root);
  if (problems.length > 0) throw refuse(problems, text, file);
  return pack;
}

function refuse(problems: readonly PackProblem[], text: string, file: string): AssayError {
  const [first] = problems;
  const at = placeAt(text, file, first?.offset ?? 0);
  const more = problems.length > 1 ? ` (first of ${problems.length} problems)` : '';
  return new AssayError(
    'E_PACK_INVALID',
    `Cannot use the rule pack: ${first?.problem ?? ''}${more}`,
    {
      hint: first?.hint,
      at,
      snippet: text === '' ? undefined : makeSnippet(text, at),
    },
  );
}
