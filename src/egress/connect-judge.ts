import { NAME_RANGE } from '../plan/doors.ts';
import { HOST_LOOPBACK } from '../plan/host-ports.ts';
import { formatIp, isInRange, parseIp, parseRange } from '../policy/ip-address.ts';
import type { ConnectAnswer, ConnectJudge, ConnectRequest } from './doors.ts';
import {
  type ConnectionFact,
  describeCut,
  type Destination,
  DOORS,
  type EgressLog,
  type EgressRules,
  type NameTable,
  type Verdict,
} from './egress.ts';
import { judgeAddresses, type Resolver } from './resolver.ts';

export interface JudgeInput {
  readonly rules: EgressRules;
  readonly names: NameTable;
  readonly resolver: Pick<Resolver, 'lookup' | 'prepare'>;
  readonly log: Pick<EgressLog, 'connection'>;
  /** As it stands in the facts. */
  readonly now: () => number;
}

const MAX_KEPT = 1024;
const DNS_PORT = 53;
const NAMES = parseRange(NAME_RANGE);
const NOT_COUNTED = 'connected directly: bytes are not counted';

const NO_NAME: Verdict = { isAllowed: false, rule: null, reason: 'no name has this address' };
const NEEDS_PROXY = 'its requests have to be seen, which they are at the proxy only';

/** Decides about the connections that the broker makes for programs without a network of their own. */
export function makeConnectJudge(input: JudgeInput): ConnectJudge {
  return new Judge(input);
}

class Judge implements ConnectJudge {
  readonly #input: JudgeInput;
  /** What the broker may decide by itself for a moment, so that each use can be told, also when it is over. */
  readonly #kept = new Map<string, ConnectionFact>();
  readonly #listeners: (() => void)[] = [];

  constructor(input: JudgeInput) {
    this.#input = input;
    input.rules.onChange(() => {
      for (const listener of this.#listeners) listener();
    });
  }

  onForget(listener: () => void): void {
    this.#listeners.push(listener);
  }

  noteKept(request: ConnectRequest, times: number): void {
    const fact = this.#kept.get(toKey(request));
    const startedMs = this.#input.now();
    if (!fact) return;
    for (let time = 0; time < times; time++)
      this.#input.log.connection({ ...fact, startedMs, durationMs: 0 });
  }

  async judge(request: ConnectRequest): Promise<ConnectAnswer> {
    const { port } = request;
    const parsed = parseIp(request.address);
    if (!parsed) return { kind: 'refused', errno: 'EACCES' };
    const address = formatIp(parsed);
    const door = findDoor(address, port);
    if (door) return { kind: 'door', door };
    const name = this.#input.names.nameOf(address);
    if (name !== undefined) return await this.#judgeName(request, name);
    const destination: Destination = { protocol: 'tcp', address, port };
    if (NAMES && isInRange(NAMES, parsed)) return this.#refuse(request, destination, NO_NAME);
    await this.#input.resolver.prepare(address);
    const verdict = this.#input.rules.decideAddress(destination, address);
    // The host's own resolver, which programs know of where its file cannot be replaced.
    if (!verdict.isAllowed && port === DNS_PORT) return { kind: 'door', door: 'dns' };
    return this.#dial(request, { destination, verdict, address });
  }

  async #judgeName(request: ConnectRequest, name: string): Promise<ConnectAnswer> {
    const { rules, resolver } = this.#input;
    const destination: Destination = { protocol: 'tcp', name, port: request.port };
    const verdict = rules.decide(destination);
    if (!verdict.isAllowed) return this.#refuse(request, destination, verdict);
    const found = await resolver.lookup(name);
    if (found.kind === 'refused') return this.#refuse(request, destination, found.verdict);
    if (found.kind !== 'found') {
      const outcome = 'EHOSTUNREACH';
      this.#tell(request, makeFact({ destination, verdict, outcome, startedMs: 0 }));
      return { kind: 'refused', errno: outcome, endpoint: toEndpoint(destination) };
    }
    const { allowed, refusal } = judgeAddresses(rules, destination, found.addresses);
    // The program has a socket of IPv4, since that is what names are answered with.
    const address = allowed.find((one) => !one.includes(':')) ?? allowed[0];
    if (address === undefined) return this.#refuse(request, destination, refusal ?? verdict);
    const decided = rules.decideAddress(destination, address);
    return this.#dial(request, { destination, verdict: decided, address });
  }

  #dial(
    request: ConnectRequest,
    found: { destination: Destination; verdict: Verdict; address: string },
  ): ConnectAnswer {
    const { destination, verdict, address } = found;
    if (!verdict.isAllowed) return this.#refuse(request, destination, verdict);
    if (this.#input.rules.isInspected(destination)) {
      const { rule } = verdict;
      return this.#refuse(request, destination, { isAllowed: false, rule, reason: NEEDS_PROXY });
    }
    const note = NOT_COUNTED;
    const fact = makeFact({ ...found, outcome: 'ok', startedMs: 0, note });
    this.#tell(request, fact);
    const key = toKey(request);
    if (this.#kept.size >= MAX_KEPT && !this.#kept.has(key)) this.#kept.clear();
    this.#kept.set(key, fact);
    const { rules } = this.#input;
    const mayBeOwn = rules.decideAddress(destination, address, { isOwn: true }).isAllowed;
    const endpoint = toEndpoint(destination);
    return { kind: 'dial', address, port: request.port, endpoint, canKeep: true, mayBeOwn };
  }

  #refuse(request: ConnectRequest, destination: Destination, verdict: Verdict): ConnectAnswer {
    const fact = makeFact({ destination, verdict, outcome: 'refused', startedMs: 0 });
    const note = describeCut(verdict);
    if (request.isReview === true)
      this.#input.log.connection({ ...fact, startedMs: this.#input.now(), note });
    else this.#tell(request, fact);
    return { kind: 'refused', errno: 'EACCES', endpoint: toEndpoint(destination) };
  }

  /** A program that asks how its connection is getting on makes no other one. */
  #tell({ isAgain, isReview = false }: ConnectRequest, fact: ConnectionFact): void {
    if (!isAgain && !isReview)
      this.#input.log.connection({ ...fact, startedMs: this.#input.now() });
  }
}

function findDoor(address: string, port: number): 'proxy' | 'dns' | undefined {
  const { proxy, dns } = DOORS;
  if (address === proxy.address && port === proxy.port) return 'proxy';
  return address === dns.address && port === dns.port ? 'dns' : undefined;
}

function makeFact(
  known: Pick<ConnectionFact, 'destination' | 'verdict' | 'outcome' | 'startedMs'> &
    Partial<ConnectionFact>,
): ConnectionFact {
  return { door: 'broker', sent: 0, received: 0, durationMs: 0, ...known };
}

const LOOPBACK = ['127.0.0.0/8', '::1'].flatMap((text) => parseRange(text) ?? []);

/** There is no other loopback here than the host's. */
function toEndpoint({ name, address = '', port }: Destination): string {
  const parsed = parseIp(address);
  const isHost = parsed !== undefined && LOOPBACK.some((range) => isInRange(range, parsed));
  const text = isHost ? HOST_LOOPBACK : address;
  const host = name ?? (text.includes(':') ? `[${text}]` : text);
  return `tcp:${host}:${port}`;
}

function toKey({ address, port }: ConnectRequest): string {
  return `${address} ${port}`;
}
