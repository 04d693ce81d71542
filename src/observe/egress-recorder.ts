import { redactHost, redactText } from '../core/redact.ts';
import {
  type ConnectionFact,
  type Destination,
  DOORS,
  type EgressLog,
  NAME_RANGE,
  type NameTable,
  type QuestionFact,
  type Verdict,
} from '../egress/egress.ts';
import type { HostPorts } from '../plan/host-ports.ts';
import { parseIp } from '../policy/ip-address.ts';
import { ConnectionTable } from './connection-table.ts';
import type { EventLine, SocketLine } from './decode-line.ts';
import { DoorView, hostBehindDoor, toEndpoint } from './door-view.ts';
import { type EgressTotals, UNKNOWN_PROGRAM } from './event.ts';
import { parseAddress } from './make-event.ts';
import { SocketTable } from './socket-table.ts';

/** What a run with doors tells the record beforehand. */
export interface DoorSite {
  /** Addresses inside that lead to a door, in CIDR form, besides those that stand for names. */
  readonly ranges: readonly string[];
  /** Ports of loopback that lead to the host. */
  readonly hostPorts: readonly HostPorts[];
  readonly names: NameTable;
  /** As the doors decide, for what never came to one. */
  readonly decide: (destination: Destination) => Verdict;
  /** From the start of the record on, as the helper's times. */
  readonly nowMs: () => number;
}

export interface EgressRecorderOptions extends DoorSite {
  readonly numberOutcome: (outcome: string) => number;
  readonly numberRule: (rule: string | null) => number;
  readonly emit: (line: EventLine) => void;
}

interface Waiting {
  readonly line: EventLine;
  /** Sockets that it may have come from, the likeliest first. */
  readonly keys: readonly string[];
  /** How many pieces of the helper's stream had come. */
  readonly feeds: number;
}

const MAX_WAITING = 4096;
/** The helper writes when its buffer is due: what it knew before a fact is there in the second piece after it. */
const FEEDS_TO_WAIT = 2;
const MAX_BROKERED = 4096;
const MAX_HINTS = 1000;
const MAX_LED = 4096;
const MAX_TOLD = 1 << 16;
const MAX_NAME_LENGTH = 512;

const PROXY = `tcp:${DOORS.proxy.address}:${DOORS.proxy.port}`;
const DNS = `${DOORS.dns.address}:${DOORS.dns.port}`;

/**
 * Brings together what the doors know (the name, how it was decided, how it ended) and what the helper knows (which
 * program it was).
 */
export class EgressRecorder implements EgressLog {
  readonly #options: EgressRecorderOptions;
  readonly #view: DoorView;
  readonly #sockets = new SocketTable();
  readonly #connections = new ConnectionTable();
  readonly #brokered = new Map<string, number>();
  readonly #hints = new Map<string, string>();
  /** Connections that the helper saw go to a door, and endpoints that a door told of. */
  readonly #led = new Map<string, { line: EventLine; destination: Destination }>();
  readonly #told = new Set<string>();
  #waiting: Waiting[] = [];
  #feeds = 0;

  constructor(options: EgressRecorderOptions) {
    this.#options = options;
    const { ranges, hostPorts, names } = options;
    this.#view = new DoorView({ ranges: [NAME_RANGE, ...ranges], hostPorts, names });
  }

  question(fact: QuestionFact): void {
    const { peerPort, verdict } = fact;
    const at = this.#options.nowMs();
    const keys = [`udp:${DNS} ${peerPort}`, `udp ${peerPort}`, `tcp:${DNS} ${peerPort}`];
    const outcome = verdict.isAllowed ? nameAnswer(fact.answer) : 'EACCES';
    const line = this.#makeLine(`dns:${spellName(fact.name)}`, outcome, verdict, at);
    this.#wait({ ...line, op: 'resolve' }, peerPort === undefined ? [] : keys);
  }

  connection(fact: ConnectionFact): void {
    const { door, destination, verdict } = fact;
    const endpoint = spellEndpoint(destination);
    this.#connections.add(endpoint, fact);
    if (this.#told.size < MAX_TOLD) this.#told.add(endpoint);
    const outcome = verdict.isAllowed && fact.outcome !== 'refused' ? fact.outcome : 'EACCES';
    const at = Math.max(0, Math.round(this.#options.nowMs() - fact.durationMs));
    const line = this.#makeLine(endpoint, outcome, verdict, at);
    // The helper tells the rest, since it has connected; the rule it does not know.
    if (door === 'broker') this.#noteBrokered(endpoint, line.rule);
    else this.#wait(line, this.#keysOf(fact));
  }

  /** A line of the helper; undefined when a door tells the same. */
  read(line: EventLine): EventLine | undefined {
    if (line.op === 'bind' && line.errno === 0 && line.path.startsWith('udp:'))
      this.#sockets.note({ ...line, key: `udp ${line.target}` });
    const rule =
      line.op === 'connect' && line.rule !== 0 ? this.#brokered.get(line.path) : undefined;
    if (rule !== undefined) return { ...line, rule };
    const seen = this.#view.read(line);
    if (seen.kind === 'unrouted') return this.#judge(seen.line, seen.destination);
    if (seen.kind === 'led' && this.#led.size < MAX_LED) this.#led.set(seen.line.path, seen);
    return seen.kind === 'own' ? seen.line : undefined;
  }

  noteSocket({ program, port, address, atMs }: SocketLine): void {
    const { family, host, port: to } = parseAddress(address);
    const endpoint = to === undefined ? undefined : toEndpoint(family, host, to);
    if (endpoint !== undefined) this.#sockets.note({ key: `${endpoint} ${port}`, program, atMs });
  }

  /** A piece of the helper's stream has been read. */
  endFeed(): void {
    this.#feeds += 1;
    this.#release((one) => this.#feeds - one.feeds >= FEEDS_TO_WAIT);
  }

  finish(): EgressTotals {
    this.#release(() => true);
    for (const [path, { line, destination }] of this.#led)
      if (!this.#told.has(path)) this.#options.emit(this.#judgeUntold(line, destination));
    return { connections: this.#connections.list(), hints: this.#hints };
  }

  #judge(line: EventLine, destination: Destination): EventLine {
    const verdict = this.#options.decide(destination);
    if (verdict.isAllowed) return line;
    this.#noteHint(line.path, verdict);
    return { ...line, rule: this.#options.numberRule(verdict.rule) };
  }

  /** It was on its way when the run ended: what was refused did not arrive, of the rest nobody can say. */
  #judgeUntold(line: EventLine, destination: Destination): EventLine {
    const judged = this.#judge({ ...line, id: 0 }, destination);
    const errno = this.#options.numberOutcome(judged.rule === 0 ? 'EINPROGRESS' : 'EACCES');
    return { ...judged, errno, basis: 'observed' };
  }

  #noteHint(path: string, { hint }: Verdict): void {
    if (hint !== undefined && this.#hints.size < MAX_HINTS) this.#hints.set(path, redactText(hint));
  }

  #makeLine(path: string, outcome: string, verdict: Verdict, atMs: number): EventLine {
    const { numberOutcome, numberRule } = this.#options;
    const isRefused = outcome === 'EACCES' && !verdict.isAllowed;
    if (isRefused) this.#noteHint(path, verdict);
    return {
      type: 'event',
      id: 0,
      program: UNKNOWN_PROGRAM,
      op: 'connect',
      path,
      requested: '',
      errno: numberOutcome(outcome),
      basis: 'performed',
      rule: isRefused ? numberRule(verdict.rule) : 0,
      target: '',
      isDirectory: false,
      isReplacing: false,
      isKernel: false,
      move: 'plain',
      isToldEachTime: false,
      state: '',
      atMs,
    };
  }

  #keysOf({ door, destination, peerPort }: ConnectionFact): string[] {
    if (peerPort === undefined) return [];
    if (door !== 'transparent') return [`${PROXY} ${peerPort}`];
    const { protocol, name, port } = destination;
    const address = destination.address ?? this.#options.names.addressOf(name ?? '');
    const endpoint = address === undefined ? undefined : toEndpoint(protocol, address, port);
    return endpoint === undefined ? [] : [`${endpoint} ${peerPort}`];
  }

  #noteBrokered(endpoint: string, rule: number): void {
    if (rule === 0) this.#brokered.delete(endpoint);
    else if (this.#brokered.size < MAX_BROKERED) this.#brokered.set(endpoint, rule);
  }

  #wait(line: EventLine, keys: readonly string[]): void {
    this.#waiting.push({ line, keys, feeds: this.#feeds });
    if (this.#waiting.length <= MAX_WAITING) return;
    let more = MAX_WAITING / 2;
    this.#release(() => more-- > 0);
  }

  #release(isDue: (one: Waiting) => boolean): void {
    if (this.#waiting.length === 0) return;
    const kept: Waiting[] = [];
    for (const one of this.#waiting) {
      if (isDue(one)) this.#options.emit({ ...one.line, program: this.#findProgram(one) });
      else kept.push(one);
    }
    this.#waiting = kept;
  }

  #findProgram({ keys, line }: Waiting): number {
    const key = keys.find((one) => this.#sockets.has(one));
    return key === undefined ? UNKNOWN_PROGRAM : this.#sockets.find(key, line.atMs);
  }
}

function spellEndpoint({ protocol, name, address = '', port }: Destination): string {
  if (name !== undefined) return `${protocol}:${spellName(name)}:${port}`;
  const parsed = parseIp(address);
  return `${protocol}:${parsed ? hostBehindDoor(parsed) : spellName(address)}:${port}`;
}

/** As resolvers name these to programs. */
function nameAnswer(answer: string): string {
  if (answer === 'NOERROR') return 'ok';
  return answer === 'NXDOMAIN' ? 'ENOTFOUND' : `E${answer}`;
}

/** What stands in no name of a host is spelled out, so that no name looks like something else. */
function spellName(name: string): string {
  const spelled = name
    .slice(0, MAX_NAME_LENGTH)
    .replaceAll(/[^\w.*-]/g, (odd) => `%${odd.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return redactHost(spelled);
}
