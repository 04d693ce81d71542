import type { Hide } from '../core/known-secrets.ts';
import { redactPath } from '../core/redact.ts';
import { type Counters, EventCounter } from './counters.ts';
import {
  decodeLine,
  type EventLine,
  type ImageState,
  type Line,
  type ProgramLine,
} from './decode-line.ts';
import type { EgressLog } from '../egress/egress.ts';
import type { DoorSite, EgressRecorder } from './egress-recorder.ts';
import { EventStore } from './event-store.ts';
import type { EgressTotals, Event, LimitEvent, Overflow, Program } from './event.ts';
import { EventMaker } from './make-event.ts';
import { ProgramTable } from './program-table.ts';
import { ShownNames } from './shown-names.ts';

const MAX_EVENTS = 100_000;
const MAX_TEXT_BYTES = 32 << 20;
/** The helper's lines are shorter. */
const MAX_LINE_LENGTH = 1 << 20;

export interface RecorderOptions {
  /** A rule of the broker by its number, as a person reads it. */
  readonly describeRule: (id: number) => string;
  /** SHA-256 of a text, in hex. */
  readonly digest: (text: string) => string;
  /** Hides values that are known to be secret, besides what looks like one. */
  readonly hide?: Hide | undefined;
  /** The workspace and the home, whose own names are not hidden. */
  readonly given?: readonly string[] | undefined;
  /** Something that the program inside cannot know, so that it cannot choose names that are slow to look up. */
  readonly seed?: number | undefined;
  readonly maxEvents?: number | undefined;
  /** A program that was not known before, and what its image was read from. */
  readonly onProgram?: ((program: Program, state: ImageState) => void) | undefined;
  /** What is new, as it happens; `by` is the program that did it. */
  readonly onFirstSighting?:
    ((sighting: Event | Program, by: Program | undefined) => void) | undefined;
  /** After each piece of the stream that changed one. */
  readonly onCounters?: ((counters: Counters) => void) | undefined;
}

export interface Recording {
  readonly events: readonly Event[];
  readonly programs: readonly Program[];
  /** What the images of programs were read from, by the program's id. */
  readonly images: ReadonlyMap<number, ImageState>;
  readonly pids: readonly { readonly first: number; readonly last: number }[];
  readonly overflow: readonly Overflow[];
  /** Of a run with doors to the network. */
  readonly egress?: EgressTotals | undefined;
  /** Events that the helper saw and could not write down. */
  readonly lost: number;
  /** Calls that the helper could not read. */
  readonly unread: number;
  /** Lines that could not be understood. */
  readonly damagedLines: number;
}

/** Reads what the helper writes while a program runs. Nothing leaves it that is not redacted. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #store: EventStore;
  readonly #maker: EventMaker;
  readonly #hide: Hide;
  readonly #names: ShownNames;
  readonly #programs: ProgramTable;
  readonly #counter = new EventCounter();
  readonly #pids: { first: number; last: number }[] = [];
  readonly #limits = new Map<string, LimitEvent>();
  /** Programs not shown yet: their command line follows. */
  readonly #unshown = new Set<number>();
  #egress: EgressRecorder | undefined;
  #rest = '';
  #isSkipping = false;
  /** Numbers that are no event's, and how many there may be. */
  #unknownIds = 0;
  #absent = 0;
  #lost = 0;
  #unread = 0;
  #damagedLines = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#hide = options.hide ?? ((text) => text);
    this.#names = new ShownNames(this.#hide, options.given);
    this.#programs = new ProgramTable(this.#hide, this.#names);
    this.#maker = new EventMaker((id) => this.#redact(options.describeRule(id)));
    this.#store = new EventStore({
      maxEvents: options.maxEvents ?? MAX_EVENTS,
      maxBytes: MAX_TEXT_BYTES,
      seed: options.seed ?? 0,
      digest: options.digest,
    });
  }

  /** What the paths of events and programs stand for. */
  get names(): ShownNames {
    return this.#names;
  }

  get counters(): Counters {
    const { filesWritten, endpoints, refused } = this.#counter;
    return { filesWritten, endpoints, refused, programs: this.#programs.count };
  }

  /** For a run with doors to the network, before it starts; what they tell is part of the record. */
  openEgress(site: DoorSite, Egress: typeof EgressRecorder): EgressLog {
    this.#egress = new Egress({
      ...site,
      numberOutcome: (outcome) => this.#maker.numberOutcome(outcome),
      numberRule: (rule) => this.#maker.numberRule(rule === null ? null : this.#redact(rule)),
      emit: (line) => this.#keepEvent(line),
    });
    return this.#egress;
  }

  /** The next piece of the stream, a character for each byte; it may end anywhere. */
  feed(chunk: string): void {
    const before = this.counters;
    const text = this.#rest + chunk;
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#takeLine(text.slice(start, end));
      start = end + 1;
    }
    this.#egress?.endFeed();
    this.#rest = text.slice(start);
    if (this.#rest.length > MAX_LINE_LENGTH) {
      if (!this.#isSkipping) this.#damagedLines += 1;
      this.#isSkipping = true;
      this.#rest = '';
    }
    const after = this.counters;
    if (Object.entries(after).some(([key, value]) => value !== before[key as keyof Counters]))
      this.#options.onCounters?.(after);
  }

  /** Ends the recording; nothing can be fed after it. */
  finish(): Recording {
    if (this.#rest !== '') this.#takeLine(this.#rest);
    this.#rest = '';
    const egress = this.#egress && this.#hideTotals(this.#egress.finish());
    for (const id of this.#unshown) this.#show(id);
    const events: Event[] = [];
    this.#store.drain((stored) => events.push(this.#maker.make(stored)));
    events.push(...this.#limits.values());
    const overflow = Array.from(this.#store.folds, ({ errno, sum, ...fold }) => ({
      ...fold,
      outcome: this.#maker.outcomeOf(errno),
      digest: sum.toString(16).padStart(32, '0'),
    }));
    return {
      events,
      programs: this.#programs.list(),
      images: this.#programs.images,
      pids: this.#pids,
      overflow,
      egress,
      lost: this.#lost,
      unread: this.#unread,
      damagedLines: this.#damagedLines + Math.max(0, this.#unknownIds - this.#absent),
    };
  }

  #takeLine(raw: string): void {
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    if (raw === '') return;
    const line = decodeLine(raw);
    if (!line || !this.#take(line)) this.#damagedLines += 1;
  }

  /** False when a line speaks of something unknown. */
  #take(line: Line): boolean {
    switch (line.type) {
      case 'event':
        this.#takeEvent(line);
        return true;
      case 'program':
        this.#takeProgram(line);
        return true;
      case 'command': {
        const isKnown = this.#programs.addCommand(line);
        this.#show(line.program);
        return isKnown || this.#programs.isFull;
      }
      case 'socket':
        this.#egress?.noteSocket(line);
        return true;
      case 'event-counts':
        for (const [id, count] of line.pairs)
          if (!this.#store.setCount(id, count)) this.#unknownIds += 1;
        return true;
      case 'program-counts':
        return all(
          line.pairs,
          ([id, count]) => this.#programs.setCount(id, count) || this.#programs.isFull,
        );
      case 'pids':
        this.#pids.push(...line.pairs.map(([first, last]) => ({ first, last })));
        return true;
      case 'lost':
        this.#lost += line.count;
        return true;
      case 'unread':
        this.#unread += line.count;
        return true;
      case 'absent':
        this.#absent += 1;
        return true;
      case 'other':
        return true;
    }
  }

  #takeEvent(raw: EventLine): void {
    const line = this.#egress ? this.#egress.read(raw) : raw;
    // Its number may be counted, and is no event's.
    if (line) this.#keepEvent(line);
    else this.#absent += 1;
  }

  #keepEvent(raw: EventLine): void {
    this.#show(raw.program);
    const line = {
      ...raw,
      path: this.#names.show(raw.path),
      requested: this.#names.show(raw.requested),
      target: this.#names.show(raw.target),
    };
    if (!this.#store.add(line)) return;
    this.#counter.count(line);
    const by = this.#programs.get(line.program);
    const { onFirstSighting } = this.#options;
    // An event is made for whoever looks at it now; many runs have nobody who does.
    if (onFirstSighting) onFirstSighting(this.#maker.make({ ...line, count: 1 }), by);
    if (line.op !== 'limit-files' || this.#limits.has('files')) return;
    const limit: LimitEvent = { kind: 'limit', limit: 'files', atMs: line.atMs };
    this.#limits.set('files', limit);
    onFirstSighting?.(limit, by);
  }

  #takeProgram(line: ProgramLine): void {
    this.#show(line.parent);
    if (this.#programs.isFull) {
      this.#store.foldProgram(
        this.#names.show(line.image),
        this.#names.show(line.script),
        line.atMs,
      );
      return;
    }
    this.#programs.add(line);
    this.#unshown.add(line.id);
    const program = this.#programs.get(line.id);
    if (program) this.#options.onProgram?.(program, line.state);
  }

  #hideTotals({ connections, hints }: EgressTotals): EgressTotals {
    const hide = this.#hide;
    return {
      connections: connections.map((one) => ({
        ...one,
        endpoint: hide(one.endpoint),
        rules: one.rules.map((rule) => this.#redact(rule)),
        notes: one.notes.map((note) => hide(note)),
      })),
      hints: new Map(Array.from(hints, ([path, hint]) => [hide(path), hide(hint)])),
    };
  }

  /** Of a rule, which names a path as it was written. */
  #redact(path: string): string {
    return redactPath(this.#hide(path));
  }

  #show(id: number): void {
    const program = this.#unshown.delete(id) ? this.#programs.get(id) : undefined;
    if (program) this.#options.onFirstSighting?.(program, this.#programs.get(program.parent));
  }
}

/** Every one is visited, also after one that is wrong. */
function all<T>(items: readonly T[], isRight: (item: T) => boolean): boolean {
  return items.reduce((isSoFar, item) => isRight(item) && isSoFar, true);
}
