import { AssayError } from '../../core/errors.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { decideNet, type NetQuery } from '../../policy/decide-net.ts';
import { formatHostPort } from '../../policy/host.ts';
import { NET_FORM, parseNetTarget, toQuery } from '../../policy/net-target.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Enforcement } from './enforcement.ts';
import { type RuleText, toRuleText } from './rule-text.ts';

/** `assay policy explain HOST --json` prints exactly this. */
export interface HostExplanation {
  readonly schema: 'assay.explain.v1';
  readonly kind: 'host';
  readonly asked: string;
  readonly host: string;
  readonly port: number | null;
  readonly policy: string;
  /** What the policy says. */
  readonly outcome: 'allow' | 'deny';
  readonly rule: RuleText | null;
  /** What happens: only the run's own loopback and the host's whole network can be granted. */
  readonly isReachable: boolean;
  readonly layers: readonly Enforcement[];
  readonly isEnforced: boolean;
  readonly allowWith: { readonly flag: null; readonly policyLine: string } | null;
  readonly notes: readonly string[];
}

function readHost(text: string): NetQuery {
  const target = parseNetTarget(text);
  if ('problem' in target)
    throw new AssayError(
      'E_USAGE',
      `Cannot explain this: ${target.problem.replace(NET_FORM, 'a host or host:port')}`,
      {
        hint: target.hint ?? 'Write ./NAME for a file that does not exist yet',
      },
    );
  const query = toQuery(target);
  if (!query)
    throw new AssayError('E_USAGE', `Cannot explain "${text}": it stands for several hosts`, {
      hint: 'Name one host, such as example.com:443',
    });
  return query;
}

function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function findLayers({ network, launch }: Plan): Enforcement[] {
  if (network === 'host') return [];
  if (network === 'private')
    return [{ layer: 'net', how: 'a network of its own, with a loopback only' }];
  const layers: Enforcement[] = [];
  if (launch.filter) layers.push({ layer: 'seccomp', how: 'no network sockets' });
  if (launch.landlock && launch.landlock.net !== 0)
    layers.push({ layer: 'landlock', how: 'no TCP' });
  return layers;
}

function findNotes(
  isOwn: boolean,
  isReachable: boolean,
  outcome: 'allow' | 'deny',
  network: Plan['network'],
): string[] {
  if (network === 'private' && isOwn)
    return ['this is the loopback of the run, not that of the host'];
  if (outcome === 'allow' && !isReachable)
    return [
      'allowed but not reachable: only "*" (the network of the host) and loopback can be granted',
    ];
  if (outcome === 'deny' && isReachable)
    return ['refused but reachable: the policy allows the network of the host as a whole'];
  return [];
}

export function explainHost(
  asked: string,
  { policy, plan }: { policy: Policy; plan: Plan },
): HostExplanation {
  const query = readHost(asked);
  const host = formatHostPort(query.host, undefined);
  const { outcome, rule } = decideNet(policy, query);
  const isOwn = isLoopback(host);
  const layers = findLayers(plan);
  const isReachable =
    plan.network === 'host' || layers.length === 0 || (plan.network === 'private' && isOwn);
  return {
    schema: 'assay.explain.v1',
    kind: 'host',
    asked,
    host,
    port: query.port ?? null,
    policy: policy.name,
    outcome,
    rule: rule ? toRuleText(rule) : null,
    isReachable,
    layers,
    isEnforced: outcome === 'allow' || !isReachable || (plan.network === 'private' && isOwn),
    allowWith: isReachable ? null : { flag: null, policyLine: 'net: { allow: ["*"] }' },
    notes: findNotes(isOwn, isReachable, outcome, plan.network),
  };
}
