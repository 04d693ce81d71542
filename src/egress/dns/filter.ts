import { parseHost } from '../../policy/host.ts';
import type { EgressLog, EgressRules, NameTable, QuestionFact, Verdict } from '../egress.ts';
import type { Resolver } from '../resolver.ts';
import { type AnswerRecord, writeAnswer, writeName } from './answer.ts';
import { type Query, readQuery } from './query.ts';
import { CLASS_IN, nameType, type RcodeName, TYPE } from './record-types.ts';
import { findTunnel } from './tunnel.ts';

export interface DnsFilterInput {
  readonly rules: Pick<EgressRules, 'decideName'>;
  readonly names: NameTable;
  readonly resolver: Resolver;
  readonly log: Pick<EgressLog, 'question'>;
  /** Names of this machine, which mean the loopback inside unless a rule names them. */
  readonly ownNames?: readonly string[] | undefined;
  /** As it stands in the facts. */
  readonly now: () => number;
}

interface Reply {
  readonly rcode: RcodeName;
  readonly verdict: Verdict;
  readonly records?: readonly AnswerRecord[];
}

/** An address stays the same for the run, but the rule for its name may not. */
const TTL_SECONDS = 5;
/** Questions that wait for the outside at one time; each holds a little memory. */
const MAX_WAITING = 1024;

const NOT_ONE = 'the message is not one plain question';
const LOCAL: Verdict = { isAllowed: true, rule: null };
const REVERSE = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa$/;

/**
 * Answers the questions of one run. Nothing of an answer comes from outside: addresses stand for names, and whether a name
 * exists is all that the outside is asked.
 */
export class DnsFilter {
  readonly #input: DnsFilterInput;
  #waiting = 0;

  constructor(input: DnsFilterInput) {
    this.#input = input;
  }

  /** Whether no question waits for its answer. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** The answer to a message, or undefined when it deserves none. Never throws. */
  async answer(bytes: Buffer, peerPort: number): Promise<Buffer | undefined> {
    const read = readQuery(bytes);
    if (read.kind !== 'query') {
      const isBad = read.kind === 'bad';
      this.noteUnread(peerPort, NOT_ONE, isBad ? read.rcode : undefined);
      return isBad ? writeAnswer(read.header, read.rcode) : undefined;
    }
    const { query } = read;
    const { rcode, verdict, records } = await this.#reply(query);
    this.#tell(query, { verdict, answer: rcode, peerPort });
    return writeAnswer(query, rcode, records);
  }

  /** One of many questions that get no answer. */
  noteFlood(bytes: Buffer, peerPort: number): void {
    const read = readQuery(bytes);
    const reason = 'it came in a flood of questions';
    if (read.kind !== 'query') return this.noteUnread(peerPort, reason);
    const verdict = { isAllowed: false, rule: null, reason };
    this.#tell(read.query, { verdict, answer: 'none', peerPort });
  }

  /** Something that came for a question, and of which nobody knows what it asks for. */
  noteUnread(peerPort: number | undefined, reason: string, answer = 'none'): void {
    const verdict = { isAllowed: false, rule: null, reason };
    const atMs = this.#input.now();
    this.#input.log.question({ name: 'unread', type: 'none', verdict, answer, atMs, peerPort });
  }

  #tell({ name, type }: Query, fact: Pick<QuestionFact, 'verdict' | 'answer' | 'peerPort'>): void {
    this.#input.log.question({
      name: name === '' ? '.' : name.toLowerCase(),
      type: nameType(type),
      atMs: this.#input.now(),
      ...fact,
    });
  }

  async #reply(query: Query): Promise<Reply> {
    const { type } = query;
    if (query.class !== CLASS_IN) return refuse('REFUSED', 'it is not of the internet class');
    const host = parseHost(query.name);
    const name = 'problem' in host ? undefined : host.name;
    if (name === undefined) return refuseName(query.name, type, NO_HOST);
    if (name === 'localhost' || name.endsWith('.localhost')) return answerLocal(type);
    if (name === 'arpa' || name.endsWith('.arpa')) return this.#answerReverse(name, type);
    const verdict = this.#input.rules.decideName(name);
    if (!verdict.isAllowed && this.#input.ownNames?.includes(name)) return answerLocal(type);
    if (!verdict.isAllowed) return refuseName(name, type, verdict);
    if (type === TYPE.AXFR || type === TYPE.IXFR)
      return refuse('REFUSED', 'a zone is not handed out');
    return await this.#answerAllowed(name, type, verdict);
  }

  async #answerAllowed(name: string, type: number, verdict: Verdict): Promise<Reply> {
    const { resolver, names } = this.#input;
    if (this.#waiting >= MAX_WAITING) return { rcode: 'SERVFAIL', verdict };
    this.#waiting++;
    const resolution = await resolver.lookup(name).finally(() => this.#waiting--);
    if (resolution.kind === 'missing') return { rcode: 'NXDOMAIN', verdict };
    if (resolution.kind === 'failed') return { rcode: 'SERVFAIL', verdict };
    if (resolution.kind === 'refused') return { rcode: 'REFUSED', verdict: resolution.verdict };
    // Without other records every program takes the address, and with it the one way that there is.
    if (type !== TYPE.A) return { rcode: 'NOERROR', verdict };
    const address = names.addressOf(name);
    if (address === undefined) return refuse('REFUSED', 'the run has asked for too many names');
    return { rcode: 'NOERROR', verdict, records: [makeRecord(TYPE.A, packIpv4(address))] };
  }

  /** Who has an address of ours; nobody else's is told. */
  #answerReverse(name: string, type: number): Reply {
    const bytes = REVERSE.exec(name)?.slice(1).reverse();
    const owner = bytes && this.#input.names.nameOf(bytes.join('.'));
    if (owner === undefined) return refuse('NXDOMAIN', 'only addresses of this run have names');
    if (type !== TYPE.PTR) return { rcode: 'NOERROR', verdict: LOCAL };
    const records = [makeRecord(TYPE.PTR, writeName(owner))];
    return { rcode: 'NOERROR', verdict: LOCAL, records };
  }
}

const NO_HOST: Verdict = { isAllowed: false, rule: null, reason: 'it is not the name of a host' };

function refuse(rcode: RcodeName, reason: string): Reply {
  return { rcode, verdict: { isAllowed: false, rule: null, reason } };
}

/** At once, and as if it did not exist: a program that gets another error tries again. */
function refuseName(name: string, type: number, verdict: Verdict): Reply {
  const tunnel = findTunnel(name, type);
  if (tunnel === undefined) return { rcode: 'NXDOMAIN', verdict };
  const reason = `looks like a tunnel: ${tunnel}`;
  return { rcode: 'REFUSED', verdict: { ...verdict, reason } };
}

/** The loopback inside, whatever the resolver outside thinks of the name (RFC 6761). */
function answerLocal(type: number): Reply {
  const data =
    type === TYPE.A ? Buffer.from([127, 0, 0, 1]) : type === TYPE.AAAA && Buffer.alloc(16);
  if (!data) return { rcode: 'NOERROR', verdict: LOCAL };
  if (type === TYPE.AAAA) data[15] = 1;
  return { rcode: 'NOERROR', verdict: LOCAL, records: [makeRecord(type, data)] };
}

function makeRecord(type: number, data: Buffer): AnswerRecord {
  return { type, ttlSeconds: TTL_SECONDS, data };
}

function packIpv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}
