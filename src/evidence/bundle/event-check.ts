import { canonicalJson } from '../../core/canonical-json.ts';
import { EVENTS_NAME, type BundleEvent, type BundleManifest } from './bundle.ts';
import { BundleError, type BundleCode, type BundlePlace } from './bundle-error.ts';
import { makeHasher, writeContent } from './content-hash.ts';
import { EventText } from './event-text.ts';
import { decodeText, isSorted, refuseLooseJson } from './json-check.ts';
import type { BundleLimits } from './limits.ts';
import {
  findShapeProblem,
  isBoolean,
  isCount,
  isString,
  optional,
  optionalOrNull,
  type Shape,
} from './shape.ts';

const isOptionalText = optionalOrNull(isString);

const ENVELOPE: Shape = {
  specversion: isString,
  type: isString,
  source: isString,
  id: isString,
  time: isString,
  datacontenttype: isString,
  subject: isOptionalText,
  traceparent: isOptionalText,
  tracestate: isOptionalText,
  assayrunid: isString,
  assayseq: isCount,
  assayproducer: isString,
  assayproducerversion: isString,
  assaygit: isString,
  assaypolicyid: isOptionalText,
  assaypii: isBoolean,
  assaysecrets: isBoolean,
  assaycontenthash: isOptionalText,
  data: (value) => value !== undefined,
};

const OPTIONAL = [
  'subject',
  'traceparent',
  'tracestate',
  'assaypolicyid',
  'assaycontenthash',
] as const;

const PLAIN_ENVELOPE: Shape = {
  ...ENVELOPE,
  ...Object.fromEntries(OPTIONAL.map((name) => [name, optional(isString)])),
};

/** RFC 3339, section 5.6, with a space in place of the T as its note allows. */
const TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isTime(text: string): boolean {
  if (!TIME.test(text)) return false;
  const day = Number(text.slice(8, 10));
  if (day < 29) return true;
  // Day 0 of the next month is the last of this one; a year such as 0004 is not one of the last century.
  const last = new Date(0);
  last.setUTCFullYear(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0);
  return day <= last.getUTCDate();
}

/** What is checked of each event of either kind: its text, its shape, its hash, and its place among the others. */
export class EventCheck {
  readonly #manifest: BundleManifest;
  readonly #limits: BundleLimits;
  readonly #isOurs: boolean;
  readonly #hash = makeHasher();
  readonly #text = new EventText();
  #count = 0;
  #source: string | undefined;

  constructor(
    manifest: BundleManifest,
    { limits, isOurs }: { limits: BundleLimits; isOurs: boolean },
  ) {
    this.#manifest = manifest;
    this.#limits = limits;
    this.#isOurs = isOurs;
  }

  get count(): number {
    return this.#count;
  }

  /** Without its line feed. */
  checkLine(bytes: Uint8Array): BundleEvent {
    this.#count += 1;
    const { events } = this.#limits;
    if (this.#count > events)
      throw this.#refuse('LimitTotalEvents', `There are more than ${events} events`);
    const { event, dataText } = this.#parse(this.#readText(bytes));
    if (event.specversion !== '1.0')
      throw this.#refuse(
        'ContractSchemaVersion',
        `The event has specversion "${String(event.specversion)}"`,
      );
    if ((event.assaycontenthash as string | undefined) === undefined)
      throw this.#refuse('ContractSchemaVersion', 'The event has no content hash');
    if (this.#hash(writeContent(event, dataText)) !== event.assaycontenthash)
      throw this.#refuse(
        'IntegrityEventHash',
        'The content of the event is not what its hash was made of',
      );
    this.#checkPlace(event);
    return event;
  }

  #readText(bytes: Uint8Array): string {
    // A byte order mark has no place in any line; only the first one would be likely to have it.
    const text = decodeText(bytes, this.#at());
    if (text === '' || text === '\r')
      throw this.#refuse('ContractInvalidEvent', 'The line is empty');
    return text;
  }

  #parse(text: string): { event: BundleEvent; dataText: string } {
    const quick = this.#parseCanonical(text);
    if (quick) return quick;
    const value = this.#parseAny(text);
    this.#checkShape(value);
    const event = dropNulls(value as BundleEvent);
    if (this.#isOurs && event !== value)
      throw this.#refuse('ContractEnvelope', 'An attribute of the event is null');
    return { event, dataText: canonicalJson(event.data) };
  }

  /**
   * Nearly every line is canonical and has no attributes but those of the format. Such a line is what can be written
   * again from its value; so it has no name twice, no odd number and no needless escape, and need not be scanned.
   */
  #parseCanonical(text: string): { event: BundleEvent; dataText: string } | undefined {
    // Half of a surrogate pair can only come from an escape, and JSON.stringify() would write the same escape.
    if (text.includes(String.raw`\ud`)) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    if (findShapeProblem(value, PLAIN_ENVELOPE) !== undefined) return undefined;
    const event = value as BundleEvent;
    if (!isSorted(event.data, this.#limits, 2)) return undefined;
    const dataText = JSON.stringify(event.data);
    return this.#text.write(event, dataText) === text ? { event, dataText } : undefined;
  }

  #checkShape(value: unknown): void {
    const problem = findShapeProblem(value, ENVELOPE);
    if (problem !== undefined)
      throw this.#refuse('ContractInvalidJson', `In the event: ${problem}`);
  }

  #parseAny(text: string): unknown {
    refuseLooseJson(text, { limits: this.#limits, isExact: this.#isOurs, at: this.#at() });
    const value: unknown = JSON.parse(text);
    if (this.#isOurs && canonicalJson(value) !== text)
      throw this.#refuse('ContractNotCanonical', 'The line is not canonical JSON');
    return value;
  }

  #checkPlace(event: BundleEvent): void {
    const { assayseq, assayrunid, source, id, time } = event;
    const expected = this.#count - 1;
    if (assayseq !== expected)
      throw expected === 0
        ? this.#refuse('ContractSequenceStart', `The first event has number ${assayseq}`)
        : this.#refuse('ContractSequenceGap', `Event ${assayseq} stands where ${expected} belongs`);
    if (assayrunid !== this.#manifest.run_id)
      throw this.#refuse('ContractRunIdMismatch', 'The event belongs to another run');
    this.#source ??= source;
    if (source !== this.#source)
      throw this.#refuse('ContractInvalidEvent', 'The event has another source than the first one');
    if (!/^[^:]+:/.test(source))
      throw this.#refuse('ContractInvalidEvent', 'The source is not a URI');
    if (assayrunid.includes(':'))
      throw this.#refuse('ContractInvalidEvent', 'The run id has a colon');
    if (id !== `${assayrunid}:${assayseq}`)
      throw this.#refuse('ContractInvalidEvent', 'The id is not the run id and the number');
    if (!isTime(time)) throw this.#refuse('ContractTime', 'The time is not one of RFC 3339');
  }

  #at(): BundlePlace {
    return { member: EVENTS_NAME, line: this.#count };
  }

  #refuse(code: BundleCode, message: string): BundleError {
    return new BundleError(code, message, this.#at());
  }
}

/** The older format may say null for an attribute that is not there. */
function dropNulls(event: BundleEvent): BundleEvent {
  if (!OPTIONAL.some((name) => event[name] === null)) return event;
  return Object.fromEntries(
    Object.entries(event).filter(([name, value]) => value !== null || name === 'data'),
  ) as unknown as BundleEvent;
}
