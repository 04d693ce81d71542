import { AssayError } from '../../core/errors.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { decideNet, type NetDecision, type NetQuery } from '../../policy/decide-net.ts';
import { formatHostPort } from '../../policy/host.ts';
import { isOwnLoopback } from '../../policy/net-rules.ts';
import { formatEntry, NET_FORM, parseNetTarget, toQuery } from '../../policy/net-target.ts';
import type { Policy } from '../../policy/policy.ts';
import { describeEnd, isExpired } from '../../policy/rule-end.ts';
import type { Enforcement } from './enforcement.ts';
import { formatRule, type RuleText, toRuleText } from './rule-text.ts';

interface AllowWay {
  readonly flag: string;
  readonly policyLine: string;
}

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
  /** Why it is refused, in one clause. */
  readonly reason: string | null;
  /** What happens. */
  readonly isReachable: boolean;
  readonly layers: readonly Enforcement[];
  readonly isEnforced: boolean;
  readonly allowWith: AllowWay | null;
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

/** Whatever the rules say, a plain connection to it stays inside. */
function isLoopback({ host }: NetQuery): boolean {
  const target = parseNetTarget(formatEntry(host, undefined));
  return !('problem' in target) && isOwnLoopback(target);
}

function findLayers({ network, doors, launch }: Plan): Enforcement[] {
  if (network === 'host') return [];
  if (network === 'private') {
    const how = doors
      ? 'a network of its own, in which assay alone leads out'
      : 'a network of its own, with a loopback only';
    return [{ layer: 'net', how }];
  }
  const layers: Enforcement[] = [];
  const isBrokered = network === 'brokered';
  if (isBrokered)
    layers.push({ layer: 'broker', how: 'connects by itself, where the rules say so' });
  if (launch.filter)
    layers.push({ layer: 'seccomp', how: isBrokered ? 'TCP sockets only' : 'no network sockets' });
  if (launch.landlock && launch.landlock.net !== 0)
    layers.push({ layer: 'landlock', how: isBrokered ? 'no TCP by the program itself' : 'no TCP' });
  return layers;
}

/** Only what is in the way of a rule, or not what it seems to be. */
function findNotes(
  { outcome, rule }: NetDecision,
  { isOwn, isReachable, plan }: { isOwn: boolean; isReachable: boolean; plan: Plan },
): string[] {
  if (plan.network === 'private' && isOwn)
    return ['this is the loopback of the run, not that of the host'];
  if (outcome === 'deny' && isReachable)
    return ['refused but reachable: the policy allows the network of the host as a whole'];
  if (outcome === 'deny') return [];
  const notes: string[] = [];
  if (!isReachable) notes.push('allowed but not reachable: no door leads there on this host');
  else if (plan.doors && plan.doors.reason !== '') notes.push(plan.doors.reason);
  const { methods, paths } = rule?.http ?? {};
  if (methods) notes.push(`requests may be ${methods.join(', ')}`);
  if (paths) notes.push(`requests may be for ${paths.join(', ')} and below`);
  const end = rule && describeEnd(rule);
  if (end !== undefined) notes.push(`the rule ends ${end}, and its connections with it`);
  if (rule?.entries) notes.push(`${rule.text} stands for ${rule.entries.join(', ')} here`);
  return notes;
}

/** The rule that has allowed it once. */
function findEnded(policy: Policy, query: NetQuery, { outcome }: NetDecision): string[] {
  const { rule } = decideNet(policy, query);
  if (outcome === 'allow' || rule?.effect !== 'allow') return [];
  return [`${formatRule(toRuleText(rule))} has ended ${describeEnd(rule) ?? ''}`];
}

function findWay({ outcome, wanted }: NetDecision, port: number | undefined): AllowWay | null {
  if (outcome === 'allow' || !wanted) return null;
  const entry = formatEntry(wanted, port);
  return { flag: `--allow-net ${entry}`, policyLine: `net: { allow: [${JSON.stringify(entry)}] }` };
}

export function explainHost(
  asked: string,
  { policy, plan }: { policy: Policy; plan: Plan },
): HostExplanation {
  const query = readHost(asked);
  const live = policy.net.filter((one) => !isExpired(one, Date.now()));
  const decision = decideNet({ net: live }, query);
  const { outcome, rule, reason } = decision;
  const isOwn = decision.isOwnLoopback || (outcome === 'deny' && isLoopback(query));
  const layers = findLayers(plan);
  const isOpen = plan.network === 'host' || layers.length === 0;
  const isInside = plan.network === 'private' && isOwn;
  const isLed = plan.doors !== null && outcome === 'allow';
  const isReachable = isOpen || isInside || isLed;
  return {
    schema: 'assay.explain.v1',
    kind: 'host',
    asked,
    host: formatHostPort(query.host, undefined),
    port: query.port ?? null,
    policy: policy.name,
    outcome,
    rule: rule ? toRuleText(rule) : null,
    reason: reason ?? null,
    isReachable,
    layers,
    isEnforced: outcome === 'allow' || !isReachable || isInside,
    allowWith: isReachable ? null : findWay(decision, query.port),
    notes: [
      ...findNotes(decision, { isOwn, isReachable, plan }),
      ...findEnded(policy, query, decision),
    ],
  };
}
