import { nameErrno } from '../launch/errno.ts';
import { FOREIGN_SOCKET } from '../plan/broker.ts';
import type { LineOp } from './decode-line.ts';
import type { StoredEvent } from './event-columns.ts';
import type { Decision, ExecEvent, FileEvent, FileOp, FileState, NetworkEvent } from './event.ts';

const GIT_GUARD = -1;
const NOTHING_ALLOWS = -2;
/** Numbers from here on are given by this file: to outcomes that are no errno, and to rules that no broker has. */
const FIRST_OWN = 1 << 24;
const MAX_OWN = 4096;

/** The operation that was refused under another name, and what refused it. */
const GUARDS: Readonly<Partial<Record<LineOp, { readonly op: FileOp; readonly by: Decision }>>> = {
  'limit-files': { op: 'create', by: { rule: 'limits.files', layer: 'limit' } },
  setuid: { op: 'chmod', by: { rule: 'no set-user-id files', layer: 'broker' } },
};

/** Makes events of what is stored; outcomes and decisions are few, and shared. */
export class EventMaker {
  readonly #describeRule: (id: number) => string;
  readonly #outcomes = new Map<number, string>([
    [0, 'ok'],
    [-1, 'unknown'],
  ]);
  readonly #decisions = new Map<number, Decision>();
  readonly #ownOutcomes: string[] = [];
  readonly #ownRules: (string | null)[] = [null];

  constructor(describeRule: (id: number) => string) {
    this.#describeRule = describeRule;
  }

  outcomeOf(errno: number): string {
    const known = this.#outcomes.get(errno);
    if (known !== undefined) return known;
    const name = this.#ownOutcomes[errno - FIRST_OWN] ?? nameErrno(errno) ?? `error ${errno}`;
    this.#outcomes.set(errno, name);
    return name;
  }

  /** The number that stands for an outcome which did not come as one. */
  numberOutcome(outcome: string): number {
    return outcome === 'ok' ? 0 : numberOwn(this.#ownOutcomes, outcome, -1);
  }

  /** The number that stands for a rule of the doors; null is that nothing allows it. */
  numberRule(rule: string | null): number {
    return numberOwn(this.#ownRules, rule, FIRST_OWN);
  }

  make(stored: StoredEvent): FileEvent | ExecEvent | NetworkEvent {
    const guard = GUARDS[stored.op];
    const decision = guard?.by ?? this.#decisionOf(stored);
    const attempt = {
      basis: stored.basis,
      outcome: this.outcomeOf(stored.errno),
      program: stored.program,
      count: stored.count,
      atMs: stored.atMs,
      ...(decision && { decision }),
    };
    const { op, path, requested } = stored;
    if (op === 'connect' || op === 'bind' || op === 'resolve')
      return {
        kind: 'network',
        op,
        ...parseAddress(path),
        ...(/^\d+$/.test(stored.target) && { chosenPort: Number(stored.target) }),
        ...attempt,
      };
    const [state = '', replaced = ''] = stored.state.split(',');
    const named = { path, ...(requested && { requested }) };
    if (op === 'exec') return { kind: 'exec', ...named, ...attempt };
    return {
      kind: 'file',
      op: guard?.op ?? (op as FileOp),
      ...named,
      ...(stored.target && { target: stored.target }),
      ...(stored.isDirectory && { isDirectory: true }),
      ...(stored.isReplacing && { isReplacing: true }),
      ...(stored.move !== 'plain' && { move: stored.move }),
      ...(state && { before: parseState(state) }),
      ...(replaced && { targetBefore: parseState(replaced) }),
      ...attempt,
    };
  }

  #decisionOf({ rule, isKernel }: StoredEvent): Decision | undefined {
    if (rule === 0) return undefined;
    const key = rule * 2 + (isKernel ? 1 : 0);
    const known = this.#decisions.get(key);
    if (known) return known;
    const layer = isKernel ? 'kernel' : 'broker';
    let decision: Decision = { rule: null, layer };
    const own = this.#ownRules[rule - FIRST_OWN];
    if (own !== undefined) decision = { rule: own, layer: 'egress' };
    else if (rule === GIT_GUARD) decision = { rule: 'git guard', layer: 'git-guard' };
    else if (rule === FOREIGN_SOCKET.id) decision = { rule: FOREIGN_SOCKET.rule, layer };
    else if (rule !== NOTHING_ALLOWS) decision = { rule: this.#describeRule(rule), layer };
    this.#decisions.set(key, decision);
    return decision;
  }
}

/** There are few; a run that has more is not told them apart. */
function numberOwn<T>(known: T[], value: T, beyond: number): number {
  const at = known.indexOf(value);
  if (at >= 0) return FIRST_OWN + at;
  return known.length < MAX_OWN ? FIRST_OWN + known.push(value) - 1 : beyond;
}

function parseState(text: string): FileState {
  const [dev = '', ino = '', size = '', mtimeNs = '', ctimeNs = ''] = text.split(':');
  return { dev, ino, size: Number(size), mtimeNs, ctimeNs };
}

/** `tcp:127.0.0.1:80`, `udp:[::1]:53`, `unix:/path`, `unix:@abstract`, `af16:`, `dns:example.org`. */
export function parseAddress(address: string): Pick<NetworkEvent, 'family' | 'host' | 'port'> {
  const colon = address.indexOf(':');
  if (colon < 0) return { family: address, host: '' };
  const family = address.slice(0, colon);
  const rest = address.slice(colon + 1);
  const inet =
    family === 'unix' || family === 'dns'
      ? null
      : /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(rest);
  if (!inet) return { family, host: rest };
  return { family, host: inet[1] ?? inet[2] ?? '', port: Number(inet[3]) };
}
