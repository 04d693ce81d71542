import { relative } from 'node:path';
import { listOwnFolders } from '../../launch/own-rules.ts';
import { isAtOrBelow } from '../../plan/file-tree.ts';
import { escapeLiteral } from '../../policy/glob.ts';
import { findHostSet, isCatchAll, parseNetTarget } from '../../policy/net-target.ts';
import type { FsRight, FsRule, Limits, NetRule, Policy } from '../../policy/policy.ts';
import { PROTECTED_CONFIG, toConfigPattern } from '../../policy/protected-config.ts';
import { SandboxError } from '../sandbox-error.ts';
import { type NetworkSpec, type SandboxSpec, WORKSPACE } from '../spec.ts';

const SOURCE = 'sandbox';
const READ: readonly FsRight[] = ['read', 'exec'];
const DEVICE: readonly FsRight[] = ['read', 'write'];

function allow(pattern: string, rights: readonly FsRight[], isSystem = false): FsRule {
  const origin = { source: SOURCE, key: 'fs', text: pattern };
  return { effect: 'allow', rights, pattern, origin, ...(isSystem && { isSystem }) };
}

/** In a workspace of the host, what would run later outside of the sandbox stays as it is, and so does assay itself. */
function protectHost(host: string): FsRule[] {
  const config = PROTECTED_CONFIG.map((name): FsRule => ({
    effect: 'config',
    rights: ['write'],
    pattern: toConfigPattern(name),
    origin: { source: 'configuration protection', key: 'fs.protect', text: name },
  }));
  const own = listOwnFolders().filter((path) => isAtOrBelow(path, host));
  const protect = own.map((path): FsRule => ({
    effect: 'protect',
    rights: ['write'],
    pattern: escapeLiteral(`${WORKSPACE}/${relative(host, path)}`),
    origin: { source: 'assay itself', key: 'fs.protect', text: path },
  }));
  return [...config, ...protect];
}

function toFsRules({ workspace }: SandboxSpec): FsRule[] {
  return [
    allow('/', READ),
    allow(WORKSPACE, workspace?.mode === 'ro' ? READ : ['read', 'write', 'exec']),
    ...(workspace?.mode === 'rw' ? protectHost(workspace.host) : []),
    allow('/dev', DEVICE, true),
  ];
}

function refuse(text: string, problem: string): SandboxError {
  return new SandboxError('policy_invalid', `Cannot use "${text}" as a network rule: ${problem}`, {
    hint: 'docs/egress.md lists what can be said',
  });
}

function toNetRule(effect: NetRule['effect'], text: string): NetRule {
  const target = parseNetTarget(text);
  if ('problem' in target) throw refuse(text, target.problem);
  if (effect === 'allow' && isCatchAll(target))
    throw refuse(text, 'a sandbox never has the network of the host as a whole');
  if (findHostSet(text)) throw refuse(text, 'name the hosts that it stands for');
  return { effect, text, origin: { source: SOURCE, key: `net.${effect}`, text } };
}

/** Throws `policy_invalid` for what is no rule. */
export function toNetRules(network: NetworkSpec | undefined): NetRule[] {
  if (network === undefined || network === 'none') return [];
  return [
    ...network.allow.map((text) => toNetRule('allow', text)),
    ...(network.deny ?? []).map((text) => toNetRule('deny', text)),
  ];
}

/** What was asked for, as the planner takes it. */
export function toPolicy(spec: SandboxSpec, limits: Limits): Policy {
  return {
    name: SOURCE,
    isDefault: false,
    fs: toFsRules(spec),
    net: toNetRules(spec.network),
    inject: [],
    unix: [],
    env: {
      mode: 'strict',
      isExecStripped: false,
      isPathSafe: false,
      allow: [],
      deny: [],
      set: spec.env ?? {},
    },
    limits,
  };
}
