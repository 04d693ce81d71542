import { decide } from './decide.ts';
import { decideNet } from './decide-net.ts';
import { type PolicyDocument, toProblem } from './document.ts';
import { expandEntry } from './expand.ts';
import { isLiteral, unescapeLiteral } from './glob.ts';
import { parseNetTarget, toQuery } from './net-target.ts';
import type { FsRight, FsRule, NetRule, Policy, Variables } from './policy.ts';
import { PolicyError, quote, type Refusal } from './problems.ts';

/**
 * Checks the `tests` of every document against the policy they add up to, so that a file that builds on another
 * cannot break what the other promises.
 */
export function checkExamples(
  policy: Pick<Policy, 'fs' | 'net'>,
  documents: readonly PolicyDocument[],
  variables: Variables,
): void {
  const problems = documents.flatMap((document) =>
    (document.data.tests ?? []).flatMap((example, index) => {
      const wanted = example.allow === undefined ? 'deny' : 'allow';
      const text = example.allow ?? example.deny ?? '';
      const refusal = checkExample(policy, wanted, text, variables);
      return refusal ? [toProblem(document, `tests.${index}.${wanted}`, refusal)] : [];
    }),
  );
  if (problems.length > 0) throw new PolicyError(problems);
}

function checkExample(
  policy: Pick<Policy, 'fs' | 'net'>,
  wanted: 'allow' | 'deny',
  text: string,
  variables: Variables,
): Refusal | undefined {
  const space = text.indexOf(' ');
  const op = text.slice(0, space);
  const object = text.slice(space + 1).trim();
  const decision =
    op === 'net.connect'
      ? decideHost(policy, object)
      : decidePath(policy, op.slice('fs.'.length) as FsRight, object, variables);
  if ('problem' in decision) return decision;
  if (decision.outcome === wanted) return undefined;
  const verb = { allow: 'allowed', deny: 'refused' };
  return {
    problem: `the example ${quote(text)} must be ${verb[wanted]}, but it is ${verb[decision.outcome]}`,
    hint: decision.rule ? `decided by ${describeRule(decision.rule)}` : 'no rule allows it',
  };
}

function describeRule({ origin }: FsRule | NetRule): string {
  return `${origin.key} ${quote(origin.text)} (${origin.source})`;
}

function decidePath(
  policy: Pick<Policy, 'fs'>,
  op: FsRight,
  object: string,
  variables: Variables,
): ReturnType<typeof decide> | Refusal {
  const expansion = expandEntry(object, { variables, isNameAnywhere: false });
  if ('problem' in expansion) return expansion;
  const [pattern = '/', ...others] = expansion.patterns;
  if (others.length > 0 || !isLiteral(pattern)) {
    return { problem: `an example is about one path, ${quote(object)} stands for several` };
  }
  return decide(policy, { op, path: unescapeLiteral(pattern), tmpdir: variables.tmpdir });
}

function decideHost(
  policy: Pick<Policy, 'net'>,
  object: string,
): ReturnType<typeof decideNet> | Refusal {
  const target = parseNetTarget(object);
  if ('problem' in target) return target;
  const query = toQuery(target);
  if (!query)
    return { problem: `an example is about one host, ${quote(object)} stands for several` };
  return decideNet(policy, query);
}
