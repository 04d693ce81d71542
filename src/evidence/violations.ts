import type { Event, FileEvent, Program } from '../observe/event.ts';
import { mayNeedDoor } from '../plan/network.ts';
import { isEverything } from '../plan/network.ts';
import { makeNetDecider } from '../policy/decide-net.ts';
import { decide } from '../policy/decide.ts';
import { parseHost } from '../policy/host.ts';
import type { FsRight, FsRule, NetRule, Policy, Variables } from '../policy/policy.ts';

/** Something that a run did and that the policy would have refused. */
export interface Violation {
  readonly op: string;
  readonly path: string;
  /** The rule that refuses it; undefined when none allows it. */
  readonly rule?: FsRule | NetRule | undefined;
}

export interface ViolationInput {
  readonly events: readonly Event[];
  readonly programs: readonly Program[];
  readonly policy: Policy;
  readonly variables: Variables;
  /** Names that the policy allows and that lead to an address: where there are no doors, only that is seen. */
  readonly namesOf?: ((address: string) => readonly string[]) | undefined;
}

interface Need {
  readonly op: string;
  readonly right: FsRight;
  readonly path: string;
}

/** A second name for a file is a way to read and to write it, and moving takes from one place and adds to another. */
function needsOf(event: FileEvent): Need[] {
  const { op, path, target } = event;
  if (op === 'read') return [{ op, right: 'read', path }];
  const needs: Need[] = [{ op, right: 'write', path }];
  if (op === 'link') needs.push({ op, right: 'read', path });
  if ((op === 'rename' || op === 'link') && target !== undefined)
    needs.push({ op, right: 'write', path: target });
  return needs;
}

const DNS_PORT = 53;

/** Loopback is the run's own network whatever the policy says. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|0\.0\.0\.0|::)$/;

/** What happened in a run that was refused nothing, judged by the engine that plans the ones that are. */
export function findViolations(input: ViolationInput): Violation[] {
  const { policy, variables } = input;
  const found = new Map<string, Violation>();
  const add = (violation: Violation): void =>
    void found.set(`${violation.op}\0${violation.path}`, violation);
  const decideNet = makeNetDecider(policy);
  // Where there are doors, names are asked for inside.
  const hasDoors = policy.net.some(mayNeedDoor);
  const judge = ({ op, right, path }: Need): void => {
    if (isPrivate(path, variables)) return;
    const { outcome, rule } = decide(policy, { op: right, path, tmpdir: variables.tmpdir });
    if (outcome === 'deny') add({ op, path, rule });
  };
  for (const event of input.events) {
    if (event.kind === 'file' && event.outcome === 'ok') needsOf(event).forEach(judge);
    if (event.kind !== 'network') continue;
    const { op, family, host, port } = event;
    if (family === 'unix') {
      if (op === 'bind' && !host.startsWith('@')) judge({ op, right: 'write', path: host });
      if (op === 'connect' && event.outcome === 'ok' && !host.startsWith('@')) {
        const { outcome, rule } = decide({ fs: policy.unix }, { op: 'write', path: host });
        const isOwn = input.events.some(
          (other) => other.kind === 'network' && other.op === 'bind' && other.host === host,
        );
        if (outcome === 'deny' && !isOwn) add({ op, path: host, rule });
      }
    } else if (op === 'connect' && (family === 'tcp' || family === 'udp') && !LOOPBACK.test(host)) {
      const parsed = parseHost(host);
      if ('problem' in parsed) continue;
      if (family === 'udp' && port === DNS_PORT && hasDoors) continue;
      const { outcome, rule } = decideNet({ host: parsed, port });
      const isMeant = (name: string): boolean =>
        (!rule || isEverything(rule.text)) &&
        decideNet({ host: { name }, port }).outcome === 'allow';
      if (outcome === 'deny' && !(input.namesOf?.(host) ?? []).some(isMeant))
        add({ op, path: `${host}:${port}`, rule });
    }
  }
  for (const { image, script } of input.programs)
    for (const path of script === undefined ? [image] : [image, script])
      judge({ op: 'exec', right: 'exec', path });
  return [...found.values()];
}

function isPrivate(path: string, { tmpdir }: Variables): boolean {
  return path === tmpdir || path.startsWith(`${tmpdir}/`);
}
