import type { Event, NetworkEvent } from '../../observe/event.ts';
import { CONNECT } from '../../plan/grants.ts';
import type { Plan } from '../../plan/make-plan.ts';
import { isEverything, mayNeedDoor } from '../../plan/network.ts';
import { makeNetDecider, type NetDecision } from '../../policy/decide-net.ts';
import { parseHost } from '../../policy/host.ts';
import type { NetRule, Policy } from '../../policy/policy.ts';
import type { FileJudge, FileRefusal } from './file-judge.ts';

export interface NetRefusal {
  readonly rule: NetRule | undefined;
  readonly layer: 'egress' | 'kernel';
}

export interface NetJudgeInput {
  readonly boundary: Plan;
  readonly policy: Pick<Policy, 'net'>;
  readonly events: readonly Event[];
  /** Names that the policy allows and that lead to an address: where there are no doors, only that is seen. */
  readonly namesOf?: ((address: string) => readonly string[]) | undefined;
  readonly files: FileJudge;
}

const DNS_PORT = 53;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|0\.0\.0\.0|::)$/;
const CONNECTED: ReadonlySet<string> = new Set(['ok', 'EINPROGRESS']);

/** Judges connections as the network of a bounded run does. */
export class NetJudge {
  readonly #input: NetJudgeInput;
  readonly #decide: ReturnType<typeof makeNetDecider>;
  readonly #layer: NetRefusal['layer'];
  readonly #hasDoors: boolean;
  /** Where the run itself listens: paths and names of unix sockets, ports of the others. */
  readonly #own: ReadonlySet<string>;

  constructor(input: NetJudgeInput) {
    this.#input = input;
    this.#decide = makeNetDecider(input.policy);
    this.#layer = input.boundary.doors ? 'egress' : 'kernel';
    // Where there are doors, names are asked for inside.
    this.#hasDoors = input.policy.net.some(mayNeedDoor);
    const binds = input.events.filter(
      (event): event is NetworkEvent => event.kind === 'network' && event.op === 'bind',
    );
    this.#own = new Set(binds.map((event) => placeOf(event, event.chosenPort)));
  }

  /** Whether a file is the socket that the run has bound there, which is told as a bind. */
  isOwnSocket(path: string): boolean {
    return this.#own.has(`unix:${path}`);
  }

  judgeUnix(event: NetworkEvent): FileRefusal | undefined {
    const { op, host: path, outcome } = event;
    const { files } = this.#input;
    const isNamed = !path.startsWith('@');
    if (op === 'bind') return isNamed ? files.judgeWrite(path, outcome) : undefined;
    if (outcome === 'ENOENT' || outcome === 'ENOTDIR') return undefined;
    const by = isNamed ? files.rules.findRefusal(path, CONNECT) : 0;
    if (by) return { path, by, layer: 'broker' };
    const isTried = CONNECTED.has(outcome) || outcome === 'EACCES';
    if (!isTried || this.#own.has(placeOf(event))) return undefined;
    const isGranted = isNamed && files.rules.isCovered(path, CONNECT);
    return isGranted ? undefined : { path, by: 'nothing-allows', layer: 'broker' };
  }

  judge(event: NetworkEvent): NetRefusal | undefined {
    const { op, family, host, port } = event;
    if (op !== 'connect' || (family !== 'tcp' && family !== 'udp')) return undefined;
    const parsed = parseHost(host);
    if ('problem' in parsed) return undefined;
    if (family === 'udp' && port === DNS_PORT && this.#hasDoors) return undefined;
    const decision = this.#decide({ host: parsed, port });
    const isAllowed = LOOPBACK.test(host)
      ? this.#isInside(event, decision)
      : decision.outcome === 'allow' || this.#isMeant(event, decision.rule);
    if (isAllowed) return undefined;
    const rule = decision.outcome === 'deny' ? decision.rule : undefined;
    return { rule, layer: this.#layer };
  }

  /** A bounded run has a loopback of its own: what answers and is not of the run is of the host. Of UDP nobody can say. */
  #isInside(event: NetworkEvent, { outcome, isOwnLoopback }: NetDecision): boolean {
    if (this.#input.boundary.network === 'host' || event.family === 'udp') return true;
    if (!CONNECTED.has(event.outcome) || this.#own.has(placeOf(event))) return true;
    return outcome === 'allow' && !isOwnLoopback;
  }

  /** Whether the address is that of an allowed name. */
  #isMeant({ host, port }: NetworkEvent, rule: NetRule | undefined): boolean {
    if (rule && !isEverything(rule.text)) return false;
    const names = this.#input.namesOf?.(host) ?? [];
    return names.some((name) => this.#decide({ host: { name }, port }).outcome === 'allow');
  }
}

function placeOf({ family, host, port }: NetworkEvent, chosenPort?: number): string {
  return family === 'unix' ? `unix:${host}` : `${family}:${chosenPort ?? port}`;
}
