import type { Decision, Event, ExecEvent, NetworkEvent, Program } from '../observe/event.ts';
import { findBrokerRule } from '../plan/broker.ts';
import type { Plan } from '../plan/make-plan.ts';
import type { FsRule, NetRule, Policy } from '../policy/policy.ts';
import { FileJudge, type FileRefusal } from './dry-run/file-judge.ts';
import { NetJudge } from './dry-run/net-judge.ts';

/** Something that a run did, or tried, and that a bounded run would have been refused. */
export interface Violation {
  /** As events call it. */
  readonly op: string;
  /** Also of a unix socket; else an endpoint, such as `tcp:127.0.0.1:80`. */
  readonly path: string;
  /** The rule that refuses it; undefined when none allows it, or something else refuses. */
  readonly rule?: FsRule | NetRule | undefined;
  /** What refuses, and by which layer, as the record has it. */
  readonly decision: Decision;
}

export interface ViolationInput {
  readonly events: readonly Event[];
  readonly programs: readonly Program[];
  readonly policy: Policy;
  /** The plan of the same run with its boundary. */
  readonly boundary: Plan;
  /** Names that the policy allows and that lead to an address. */
  readonly namesOf?: ((address: string) => readonly string[]) | undefined;
  /** After the run. */
  readonly isThere: (path: string) => boolean;
  readonly isLink: (path: string) => boolean;
}

export interface JudgedRun {
  readonly violations: readonly Violation[];
  /** With the decision that a bounded run would have made. */
  readonly events: readonly Event[];
}

/** What happened in a run that was refused nothing, judged by the plan of one that is. */
export function judgeRun(input: ViolationInput): JudgedRun {
  const found = new Map<string, Violation>();
  const judge = makeJudge(input);
  const keep = <T extends Event>(event: T, violation: Violation | undefined): T => {
    if (!violation) return event;
    const key = `${violation.op}\0${violation.path}`;
    if (!found.has(key)) found.set(key, violation);
    return { ...event, decision: violation.decision };
  };
  const events = input.events.map((event) => keep(event, judge(event)));
  const runs = listRuns(input.programs)
    .map((event) => keep(event, judge(event)))
    .filter((event) => event.decision !== undefined && !isTold(events, event.path));
  return { violations: [...found.values()], events: [...events, ...runs] };
}

function makeJudge(input: ViolationInput): (event: Event) => Violation | undefined {
  const files = new FileJudge(input);
  const net = new NetJudge({ ...input, files });
  const { brokerRules } = input.boundary.launch;
  const toViolation = (op: string, refusal: FileRefusal | undefined): Violation | undefined => {
    if (!refusal) return undefined;
    const rule =
      typeof refusal.by === 'number' ? findBrokerRule(brokerRules, refusal.by) : undefined;
    const name = refusal.by === 'set-user-id' ? 'setuid' : op;
    return { op: name, path: refusal.path, rule, decision: decide(refusal, rule) };
  };
  return (event) => {
    if (event.kind === 'exec') return toViolation('exec', files.judgeExec(event));
    if (event.kind === 'file') {
      const isBind = event.op === 'mknod' && net.isOwnSocket(event.path);
      return isBind ? undefined : toViolation(event.op, files.judge(event));
    }
    if (event.kind !== 'network') return undefined;
    if (event.family === 'unix') return toViolation(event.op, net.judgeUnix(event));
    const refusal = net.judge(event);
    if (!refusal) return undefined;
    const { rule, layer } = refusal;
    const path = nameEndpoint(event);
    return { op: event.op, path, rule, decision: { rule: describeRule(rule), layer } };
  };
}

function decide({ by, layer }: FileRefusal, rule: FsRule | undefined): Decision {
  if (by === 'git-guard') return { rule: 'git guard', layer };
  if (by === 'set-user-id') return { rule: 'no set-user-id files', layer };
  return { rule: describeRule(rule), layer };
}

function describeRule(rule: FsRule | NetRule | undefined): string | null {
  return rule ? `${rule.origin.source} ${rule.origin.key}: ${rule.origin.text}` : null;
}

function nameEndpoint({ family, host, port }: NetworkEvent): string {
  const address = host.includes(':') ? `[${host}]` : host;
  return `${family}:${address}${port === undefined ? '' : `:${port}`}`;
}

/** Programs as if somebody had asked for each of them: of the command itself and of interpreters there is no event. */
function listRuns(programs: readonly Program[]): ExecEvent[] {
  return programs.flatMap(({ image, script, parent, count, atMs }) =>
    (script === undefined ? [image] : [image, script]).map((path) => ({
      kind: 'exec' as const,
      path,
      outcome: 'ok',
      basis: 'observed' as const,
      program: parent,
      count,
      atMs,
    })),
  );
}

function isTold(events: readonly Event[], path: string): boolean {
  return events.some((event) => event.kind === 'exec' && event.path === path && event.decision);
}
