import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import { EVENT_TYPES, type LineData } from '../bundle/event-data.ts';
import { type Fact, toFact } from '../bundle/facts.ts';
import type { Facet, Group, RunStatement } from './difference.ts';
import type { Ledger, SideBit } from './ledger.ts';
import { readStatement } from './statement.ts';

/** One of the two bundles, after it has been verified. */
export interface Side {
  readonly manifest: BundleManifest;
  readonly kind: 'sandbox' | 'upstream';
  /** Of the archive, in hex. */
  readonly sha256: string;
  readonly statement: RunStatement;
  /** The types of events that it has. */
  readonly types: ReadonlySet<string>;
  /** When the first and the last thing were seen. */
  readonly timeRange: readonly [string, string] | undefined;
}

type LineKind = Extract<Fact, { op: string }>['kind'];

interface Line extends LineData {
  readonly system?: true | undefined;
  readonly image_digests?: unknown;
}

const LINE_KINDS: ReadonlyMap<string, LineKind> = new Map([
  [EVENT_TYPES.fs, 'file'],
  [EVENT_TYPES.exec, 'program'],
  [EVENT_TYPES.net, 'network'],
  [EVENT_TYPES.limit, 'limit'],
  [EVENT_TYPES.folded, 'folded'],
]);

const GROUP_OF_LINE = {
  file: 'files',
  program: 'programs',
  network: 'network',
  limit: 'limits',
  folded: 'folded',
} as const satisfies Record<LineKind, Group>;

/** What the older format does not say. */
const UNSAID = 'unknown';

/** Takes the events of one bundle, one after the other, and keeps what a comparison needs. */
export class SideReader {
  readonly #ledger: Ledger;
  readonly #side: SideBit;
  readonly #types = new Set<string>();
  readonly #statement: RunStatement = { layers: new Map(), coverage: new Map() };
  #last: { readonly line: Line; readonly facet: Facet } | undefined;
  #firstTime: string | undefined;
  #lastTime: string | undefined;

  constructor(ledger: Ledger, side: SideBit) {
    this.#ledger = ledger;
    this.#side = side;
  }

  add(event: BundleEvent): void {
    this.#types.add(event.type);
    this.#noteTime(event.time);
    if (typeof event.assaypolicyid === 'string') this.#statement.policyId ??= event.assaypolicyid;
    // Most events are lines of ours, which need no translation.
    const kind = LINE_KINDS.get(event.type);
    if (kind !== undefined && isLine(event.data)) this.#addLine(kind, event.data);
    else this.#addFact(event);
  }

  /** Once the whole bundle has turned out to be good. */
  finish(verified: Pick<Side, 'manifest' | 'kind' | 'sha256'>): Side {
    const { manifest, kind, sha256 } = verified;
    const timeRange =
      this.#firstTime === undefined || this.#lastTime === undefined
        ? undefined
        : ([this.#firstTime, this.#lastTime] as const);
    return { manifest, kind, sha256, statement: this.#statement, types: this.#types, timeRange };
  }

  #note(group: Group, subject: string, facet: Facet): void {
    this.#ledger.add(this.#side, group, subject, facet);
  }

  #noteTime(time: string): void {
    if (this.#firstTime === undefined || time < this.#firstTime) this.#firstTime = time;
    if (this.#lastTime === undefined || time > this.#lastTime) this.#lastTime = time;
  }

  #addFact(event: BundleEvent): void {
    const fact = toFact(event);
    switch (fact.kind) {
      case 'file':
      case 'program':
      case 'network':
      case 'limit':
      case 'folded':
        this.#addLine(fact.kind, fact);
        break;
      case 'degradation':
        this.#note('degradations', fact.rule, { reason: fact.reason });
        break;
      case 'change':
        this.#addChange(event, fact);
        break;
      default:
        // Whatever else is in a bundle is compared by what it says.
        if (!readStatement(event, this.#statement)) this.#addUnknown(event);
    }
  }

  #addLine(kind: LineKind, line: Line): void {
    this.#note(groupOf(kind, line), line.path, this.#facetOf(line));
    // Most images of a run are of the system, where the line has no digest.
    if (kind === 'program' && Array.isArray(line.image_digests))
      for (const image of line.image_digests)
        this.#note('programs', line.path, { op: 'image', digest: String(image) });
  }

  /** Events come sorted: the next one is most often used in the same way, and has the same facet. */
  #facetOf(line: Line): Facet {
    const last = this.#last;
    if (last && isSameUse(last.line, line)) return last.facet;
    const { op, outcome, program, target, refused_by: rule, digest } = line;
    const facet = {
      op,
      ...(outcome !== UNSAID && { outcome }),
      ...(program !== UNSAID && { program }),
      ...(target !== undefined && { target }),
      ...(rule !== undefined && { rule }),
      ...(digest !== undefined && { digest }),
    };
    this.#last = { line, facet };
    return facet;
  }

  #addChange(event: BundleEvent, { change, path }: Extract<Fact, { kind: 'change' }>): void {
    // Nothing checks the data of the older format.
    if (typeof path !== 'string' || typeof change !== 'string') return this.#addUnknown(event);
    const isDirectory = path.endsWith('/') && path !== '/';
    return this.#note('files', isDirectory ? path.slice(0, -1) : path, {
      op: change,
      ...(isDirectory && { type: 'directory' }),
    });
  }

  #addUnknown({ type, subject, assaycontenthash: digest }: BundleEvent): void {
    // What counts files and programs differs whenever they do.
    if (type === EVENT_TYPES.summary || type === EVENT_TYPES.finished) return;
    this.#note('events', type, { ...(typeof subject === 'string' && { subject }), digest });
  }
}

function groupOf(kind: LineKind, line: Line): Group {
  if (line.refused_by !== undefined) return 'refusals';
  // An attempt to execute is about a program, whether it came to run or not.
  if (line.op === 'exec') return 'programs';
  return line.system === true ? 'system-reads' : GROUP_OF_LINE[kind];
}

function isLine(data: unknown): data is Line {
  if (typeof data !== 'object' || data === null) return false;
  const { op, path, outcome, program } = data as Readonly<Record<string, unknown>>;
  return [op, path, outcome, program].every((part) => typeof part === 'string');
}

function isSameUse(a: Line, b: Line): boolean {
  return (
    a.op === b.op &&
    a.outcome === b.outcome &&
    a.program === b.program &&
    a.target === b.target &&
    a.refused_by === b.refused_by &&
    a.digest === b.digest
  );
}
