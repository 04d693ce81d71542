import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import { EVENT_TYPES } from '../bundle/event-data.ts';
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

type LineFact = Extract<Fact, { op: string }>;

const GROUP_OF_LINE = {
  file: 'files',
  program: 'programs',
  network: 'network',
  limit: 'limits',
  folded: 'folded',
} as const satisfies Record<LineFact['kind'], Group>;

/** What the older format does not say. */
const UNSAID = 'unknown';

/** Takes the events of one bundle, one after the other, and keeps what a comparison needs. */
export class SideReader {
  readonly #ledger: Ledger;
  readonly #side: SideBit;
  readonly #types = new Set<string>();
  readonly #statement: RunStatement = { layers: new Map(), coverage: new Map() };
  #first: string | undefined;
  #last: string | undefined;

  constructor(ledger: Ledger, side: SideBit) {
    this.#ledger = ledger;
    this.#side = side;
  }

  add(event: BundleEvent): void {
    this.#types.add(event.type);
    this.#noteTime(event.time);
    if (typeof event.assaypolicyid === 'string') this.#statement.policyId ??= event.assaypolicyid;
    const fact = toFact(event);
    switch (fact.kind) {
      case 'file':
      case 'program':
      case 'network':
      case 'limit':
      case 'folded':
        this.#addLine(fact, event);
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

  /** Once the whole bundle has turned out to be good. */
  finish(verified: Pick<Side, 'manifest' | 'kind' | 'sha256'>): Side {
    const { manifest, kind, sha256 } = verified;
    const timeRange =
      this.#first === undefined || this.#last === undefined
        ? undefined
        : ([this.#first, this.#last] as const);
    return { manifest, kind, sha256, statement: this.#statement, types: this.#types, timeRange };
  }

  #note(group: Group, subject: string, facet: Facet): void {
    this.#ledger.add(this.#side, group, subject, facet);
  }

  #noteTime(time: string): void {
    if (this.#first === undefined || time < this.#first) this.#first = time;
    if (this.#last === undefined || time > this.#last) this.#last = time;
  }

  #addLine(fact: LineFact, { data }: BundleEvent): void {
    const { op, path, target, outcome, program, refused_by: rule, digest } = fact;
    const isSaid = (data as { outcome?: unknown } | null)?.outcome !== undefined;
    // Put together by hand, since this is done for every event.
    const facet: Record<string, string> = { op };
    if (isSaid) facet['outcome'] = outcome;
    if (program !== UNSAID) facet['program'] = program;
    if (target !== undefined) facet['target'] = target;
    if (rule !== undefined) facet['rule'] = rule;
    if (digest !== undefined) facet['digest'] = digest;
    this.#note(groupOf(fact), path, facet);
    if (fact.kind !== 'program') return;
    // Most images of a run are of the system, where the line has no digest.
    const { image_digests: images } = (data ?? {}) as { image_digests?: unknown };
    if (Array.isArray(images))
      for (const image of images)
        this.#note('programs', path, { op: 'image', digest: String(image) });
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

function groupOf(fact: LineFact): Group {
  if (fact.refused_by !== undefined) return 'refusals';
  // An attempt to execute is about a program, whether it came to run or not.
  if (fact.op === 'exec') return 'programs';
  return fact.system === true ? 'system-reads' : GROUP_OF_LINE[fact.kind];
}
