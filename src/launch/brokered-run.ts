import type { Socket as UdpSocket } from 'node:dgram';
import type { Duplex } from 'node:stream';
import type { ConnectAnswer, ConnectJudge, DoorService, ServeDoors } from '../egress/doors.ts';
import { within } from './door-keeper.ts';
import { noteProblem } from './door-problem.ts';
import { Gate } from './gate.ts';
import { type BrokerMessage, BrokerReader, writeAnswer, writeForget } from './judge-messages.ts';
import { spawnChild, type SpawnedHelper, type SpawnRequest, toSpawned } from './spawn-helper.ts';

const CLOSING_MS = 1000;
const DRAINING_MS = 2000;
const REFUSED: ConnectAnswer = { kind: 'refused', errno: 'EACCES' };

type LoadDoors = (() => Promise<ServeDoors>) | undefined;

/**
 * The network of a run that has none of its own: answers the broker, which connects for the programs, and serves the doors
 * on the host's loopback. Whatever goes wrong leaves the run without a network, and is told at the end.
 */
export class BrokeredKeeper {
  readonly problems: string[];
  readonly #reader = new BrokerReader();
  readonly #channel: Duplex;
  readonly #gates: readonly [proxy: Gate, dns: Gate];
  readonly #load: LoadDoors;
  #service: Promise<DoorService | undefined> | undefined;
  readonly #ended: Promise<void>;
  readonly #noDatagrams: UdpSocket;
  #isClosed = false;
  readonly #onCrash = (error: unknown): void => this.#fail(error);

  constructor(options: {
    readonly channel: Duplex;
    readonly gates: readonly [proxy: Gate, dns: Gate];
    readonly load: LoadDoors;
    readonly problems: string[];
  }) {
    const { channel, gates, load } = options;
    this.problems = options.problems;
    this.#channel = channel;
    this.#gates = gates;
    this.#load = load;
    // Nobody inside has a socket for datagrams, so this one hears nothing.
    this.#noDatagrams = process.getBuiltinModule('node:dgram').createSocket('udp4');
    process.on('uncaughtException', this.#onCrash);
    process.on('unhandledRejection', this.#onCrash);
    this.#ended = new Promise((resolve) => {
      channel.once('end', () => resolve()).once('close', () => resolve());
    });
    channel.on('error', () => undefined); // the helper has ended
    channel.on('data', (bytes: Buffer) => {
      for (const message of this.#reader.feed(bytes)) this.#hear(message);
    });
  }

  async close(): Promise<void> {
    try {
      await within(DRAINING_MS, this.#drain());
      this.#closeDoors();
      await within(CLOSING_MS, this.#closeService());
    } catch (error) {
      this.#closeDoors();
      noteProblem(this.problems, error);
    }
    this.#channel.destroy();
    process.off('uncaughtException', this.#onCrash);
    process.off('unhandledRejection', this.#onCrash);
  }

  /** What the broker said last is read, and on its way. */
  async #drain(): Promise<void> {
    await this.#ended;
    if (!this.#isClosed) await (await this.#service)?.drain?.();
  }

  async #closeService(): Promise<void> {
    await (await this.#service)?.close();
  }

  /** Most programs never ask: what answers is loaded for the first question. */
  async #serve(): Promise<DoorService | undefined> {
    const [proxy, dns] = this.#gates;
    try {
      const serve = await this.#load?.();
      const doors = {
        proxy: proxy.inner,
        transparent: [],
        dns: this.#noDatagrams,
        dnsTcp: dns.inner,
      };
      const service = serve?.(doors);
      service?.judge?.onForget(() => {
        if (!this.#isClosed) this.#channel.write(writeForget());
      });
      return service;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #hear(message: BrokerMessage): void {
    if (message.kind === 'came') {
      const gate = this.#gates.find(({ port }) => port === message.port);
      gate?.announce(message.ownPort);
    } else void this.#answer(message);
  }

  async #answer(question: BrokerMessage & { readonly kind: 'question' }): Promise<void> {
    this.#service ??= this.#serve();
    const judge = (await this.#service)?.judge;
    if (question.isKept) return judge?.noteKept(question, question.id);
    const [proxy, dns] = this.#gates;
    const answer = this.#isClosed ? REFUSED : await this.#judge(judge, question);
    const doorPorts = { proxy: proxy.port, dns: dns.port };
    if (!this.#channel.destroyed)
      this.#channel.write(writeAnswer({ id: question.id, answer, doorPorts }));
  }

  async #judge(
    judge: ConnectJudge | undefined,
    question: BrokerMessage & { readonly kind: 'question' },
  ): Promise<ConnectAnswer> {
    try {
      return (await judge?.judge(question)) ?? REFUSED;
    } catch (error) {
      this.#fail(error);
      return REFUSED;
    }
  }

  #fail(error: unknown): void {
    noteProblem(this.problems, error);
    this.#closeDoors();
  }

  /** What the broker may still remember ends with it. */
  #closeDoors(): void {
    if (!this.#isClosed && !this.#channel.destroyed) this.#channel.write(writeForget());
    if (!this.#isClosed) this.#noDatagrams.close();
    this.#isClosed = true;
    for (const gate of this.#gates) gate.close();
  }
}

export async function startBrokered(options: {
  readonly request: SpawnRequest;
  readonly load: LoadDoors;
}): Promise<{ readonly helper: SpawnedHelper; readonly keeper: BrokeredKeeper }> {
  const problems: string[] = [];
  const onError = (error: unknown): void => void problems.push(String(error));
  const gates = [await Gate.open(onError), await Gate.open(onError)] as const;
  const child = spawnChild({ ...options.request, channel: 'pipe' });
  const channel = child.stdio[4] as Duplex;
  const keeper = new BrokeredKeeper({ channel, gates, load: options.load, problems });
  return { helper: toSpawned(child), keeper };
}
