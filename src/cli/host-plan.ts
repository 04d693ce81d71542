import type { HostFacts } from '../host/facts.ts';
import { probeFacts } from '../host/probe-facts.ts';
import { helperPath } from '../launch/helper-path.ts';
import { findToolchainRules } from '../launch/toolchain.ts';
import { canonicalPattern } from '../plan/broker.ts';
import type { FileTree } from '../plan/file-tree.ts';
import { ALL_LAYERS } from '../plan/layers.ts';
import { makePlan, type Plan } from '../plan/make-plan.ts';
import { planNamedNet } from '../plan/named-net.ts';
import type { FsRule, Policy, Variables } from '../policy/policy.ts';

/** The facts by doing. */
export function readFacts(): HostFacts {
  return probeFacts({ helper: helperPath() }).facts;
}

export interface HostPlanInput {
  readonly policy: Policy;
  readonly variables: Variables;
  readonly tree: FileTree;
  readonly host: HostFacts;
}

/** Every run shows the programs on PATH, so a plan without a command does as well. */
export function addToolchain({ policy, variables, tree }: Omit<HostPlanInput, 'host'>): Policy {
  const rules = findToolchainRules({
    command: '/bin/sh',
    env: process.env,
    home: variables.home,
    cwd: variables.cwd,
    tree,
  });
  return { ...policy, fs: [...policy.fs, ...rules] };
}

/** The plan that a run under this policy would have here. */
export function planOnHost(input: HostPlanInput): Plan {
  return makePlan({
    ...input,
    choice: ALL_LAYERS,
    planNet: planNamedNet,
    argv: [],
    env: [],
    parentPid: process.pid,
    graceMs: 0,
  });
}

/** The rules as the boundary sees them, with links in their paths resolved. */
export function resolveRules(policy: Policy, tree: FileTree): Policy {
  const resolve = (rule: FsRule): FsRule =>
    rule.isSystem === true || rule.effect === 'config'
      ? rule
      : { ...rule, pattern: canonicalPattern(rule.pattern, tree) };
  return { ...policy, fs: policy.fs.map(resolve), unix: policy.unix.map(resolve) };
}
