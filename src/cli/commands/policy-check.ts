import { toPrintableJson } from '../../core/printable.ts';
import { readHostTree } from '../../launch/host-tree.ts';
import { collectDocuments } from '../../policy/extend.ts';
import type { Variables } from '../../policy/policy.ts';
import { AssayError } from '../../core/errors.ts';
import { formatProblems, PolicyError } from '../../policy/problems.ts';
import { planOnHost, readFacts } from '../host-plan.ts';
import { loadRunPolicy, openFiles, readVariables } from '../load-run-policy.ts';
import type { ParsedCommand } from '../parse.ts';
import { checkPolicy, formatPolicyCheck } from '../policy-check-report.ts';

async function countExamples(file: string, variables: Variables): Promise<number> {
  const documents = collectDocuments({ file, variables, files: await openFiles(file) });
  return documents.reduce((count, { data }) => count + (data.tests?.length ?? 0), 0);
}

/** A run stops at the first problem; whoever mends a file wants to see all of them. */
function printProblems(file: string, { code, problems, exitCode }: PolicyError): number {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  process.stderr.write(`assay: ${file} has ${count}\n\n${formatProblems(problems)}\n${code}\n`);
  return exitCode;
}

/** `assay policy check`: does it load, and does this host keep it? */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [file = ''] = rest;
  const isJson = flags.has('json');
  const tree = readHostTree();
  const variables = readVariables({}, tree);
  try {
    const policy = await loadRunPolicy({ policy: file }, variables);
    const plan = planOnHost({ policy, variables, tree, host: readFacts() });
    const examples = await countExamples(file, variables);
    const check = checkPolicy({ file, policy, plan, tree, examples });
    process.stdout.write(isJson ? `${toPrintableJson(check, 2)}\n` : formatPolicyCheck(check));
    return 0;
  } catch (error) {
    if (!isJson && error instanceof PolicyError) return printProblems(file, error);
    if (!isJson || !(error instanceof AssayError)) throw error;
    const { code, message, hint, exitCode } = error;
    const problems = error instanceof PolicyError ? error.problems : [{ message, hint }];
    const failure = { schema: 'assay.policy-check.v1', isOk: false, file, code, problems };
    process.stdout.write(`${toPrintableJson(failure, 2)}\n`);
    return exitCode;
  }
}
