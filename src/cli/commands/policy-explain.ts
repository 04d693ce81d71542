import { toPrintableJson } from '../../core/printable.ts';
import { readHostTree } from '../../launch/host-tree.ts';
import type { RefusedOp } from '../../policy/suggest-flag.ts';
import { formatHostExplanation, formatPathExplanation } from '../explain/format.ts';
import { explainHost } from '../explain/host.ts';
import { explainPath, resolvePath } from '../explain/path.ts';
import { addToolchain, planOnHost, readFacts, resolveRules } from '../host-plan.ts';
import { loadRunPolicy, readVariables } from '../load-run-policy.ts';
import type { ParsedCommand } from '../parse.ts';

/** What has a slash, or is there, is a path; so is what somebody wants to read, write or execute. */
function isHost(text: string, op: RefusedOp | undefined, doesExist: boolean): boolean {
  if (op !== undefined && op !== 'connect') return false;
  // A URL and a range of addresses are refused with a hint, and are no paths that anyone means.
  if (text.includes('://') || /^\d+(\.\d+){3}\/\d+$/.test(text)) return true;
  return !text.includes('/') && !/^[.~]/.test(text) && !doesExist;
}

/** `assay policy explain`: which rule decides, and which layer keeps it here. */
export async function run({ flags, rest }: ParsedCommand): Promise<number> {
  const [asked = ''] = rest;
  const op = flags.text('op') as RefusedOp | undefined;
  const tree = readHostTree();
  const variables = readVariables({ workdir: flags.text('workdir') }, tree);
  const loaded = await loadRunPolicy(
    { policy: flags.text('policy'), preset: flags.text('preset') },
    variables,
  );
  const full = addToolchain({ policy: loaded, variables, tree });
  const plan = planOnHost({ policy: full, variables, tree, host: readFacts() });
  const policy = resolveRules(full, tree);
  const doesExist = tree.realpath(resolvePath(asked, { variables, tree })) !== null;
  const isJson = flags.has('json');
  const write = (explanation: object, text: string): void =>
    void process.stdout.write(isJson ? `${toPrintableJson(explanation, 2)}\n` : text);
  if (isHost(asked, op, doesExist)) {
    const explanation = explainHost(asked, { policy, plan });
    write(explanation, formatHostExplanation(explanation));
    return 0;
  }
  const explanation = explainPath(asked, op, { policy, variables, tree, plan });
  write(explanation, formatPathExplanation(explanation));
  return 0;
}
