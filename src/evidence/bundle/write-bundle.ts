import { canonicalJson } from '../../core/canonical-json.ts';
import { openSha256 } from '../../core/digest.ts';
import { crc32, deflateRaw } from '../../core/inflate.ts';
import {
  ALGORITHMS,
  BUNDLE_SOURCE,
  EVENTS_NAME,
  MANIFEST_NAME,
  type BundleEvent,
  type BundleManifest,
  type SandboxIdentity,
} from './bundle.ts';
import { BundleError } from './bundle-error.ts';
import { computeSeal, HASH_PREFIX, makeHasher, writeContent } from './content-hash.ts';
import type { ManifestIdentity } from './content-hash.ts';
import { PLAIN_GZIP_HEADER } from './gzip-reader.ts';
import { BUNDLE_LIMITS } from './limits.ts';
import { SandboxCheck } from './sandbox-check.ts';
import { BLOCK_BYTES, makeTarHeader, paddingAfter } from './tar-header.ts';

const CHUNK_BYTES = 64 * 1024;
const END_OF_ARCHIVE = new Uint8Array(2 * BLOCK_BYTES);

/** Where the events wait until the manifest, which comes first, is known. */
export interface EventSpool {
  write(chunk: Uint8Array): void;
  /** All of it, from the start. */
  read(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** An event without what follows from its place and its run. */
export interface EventDraft {
  readonly type: string;
  readonly time: string;
  readonly subject?: string | undefined;
  readonly data: unknown;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly assaypii?: boolean | undefined;
  readonly assaysecrets?: boolean | undefined;
}

export interface BundleDraft {
  /** Made by startManifest(). */
  readonly manifest: ManifestIdentity;
  /** In their order. */
  readonly events: Iterable<EventDraft>;
  readonly spool: EventSpool;
  /** Where the events are to say something else than the manifest, as those of the older format do. */
  readonly envelope?: Partial<Envelope> | undefined;
}

type Envelope = Pick<
  BundleEvent,
  'source' | 'assayproducer' | 'assayproducerversion' | 'assaygit' | 'assaypolicyid'
>;

/** The parts of a manifest that are known before the first event; computeIdentity() of it goes into that event. */
export function startManifest(parts: {
  readonly producer: BundleManifest['producer'];
  readonly runId: string;
  readonly sandbox?: SandboxIdentity | undefined;
}): ManifestIdentity {
  const { producer, runId, sandbox } = parts;
  return {
    schema_version: 1,
    producer: dropUndefined(producer),
    run_id: runId,
    algorithms: ALGORITHMS,
    ...(sandbox && { sandbox }),
  };
}

export interface WrittenBundle {
  readonly manifest: BundleManifest;
  /** The bytes of the archive. */
  readonly archive: AsyncGenerator<Uint8Array>;
}

/**
 * Takes all events and gives the archive, in memory that does not depend on their number. The same events give the same
 * bytes. Throws a BundleError for events that a verifier would refuse.
 */
export function writeBundle(draft: BundleDraft): WrittenBundle {
  const { eventsBytes, ...rest } = spoolEvents(draft);
  const unsealed: BundleManifest = {
    ...draft.manifest,
    ...rest,
    bundle_id: rest.run_root,
    files: { [EVENTS_NAME]: { path: EVENTS_NAME, ...eventsBytes } },
  };
  const manifest = unsealed.sandbox ? { ...unsealed, seal: computeSeal(unsealed) } : unsealed;
  return { manifest, archive: compress(listMembers(manifest, draft.spool)) };
}

function spoolEvents({ manifest, events, spool, envelope }: BundleDraft): {
  event_count: number;
  run_root: string;
  eventsBytes: { sha256: string; bytes: number };
} {
  const finish = makeEventFinisher(manifest, envelope);
  const check = manifest.sandbox && new SandboxCheck(manifest, manifest.sandbox);
  const fileHash = openSha256();
  const rootHash = openSha256();
  let count = 0;
  let bytes = 0;
  let lines = '';
  let hashes = '';
  const flush = (): void => {
    const chunk = Buffer.from(lines, 'utf8');
    spool.write(chunk);
    fileHash.update(chunk);
    rootHash.update(hashes);
    bytes += chunk.length;
    lines = '';
    hashes = '';
  };
  for (const draft of events) {
    const { event, text } = finish(draft, count);
    check?.check(event);
    count += 1;
    lines += `${text}\n`;
    hashes += `${event.assaycontenthash}\n`;
    if (lines.length >= CHUNK_BYTES) flush();
  }
  flush();
  if (count === 0) throw refuse('There is no event');
  check?.finish();
  return {
    event_count: count,
    run_root: HASH_PREFIX + rootHash.digest('hex'),
    eventsBytes: { sha256: HASH_PREFIX + fileHash.digest('hex'), bytes },
  };
}

type EventFinisher = (draft: EventDraft, seq: number) => { event: BundleEvent; text: string };

function makeEventFinisher(
  { producer, run_id: runId, sandbox }: ManifestIdentity,
  given: Partial<Envelope> = {},
): EventFinisher {
  const hash = makeHasher();
  const envelope: Envelope = {
    source: BUNDLE_SOURCE,
    assayproducer: producer.name,
    assayproducerversion: producer.version,
    assaygit: producer.git ?? 'unknown',
    assaypolicyid: sandbox?.policy.digest,
    ...given,
  };
  if (!/^[^:]+:/.test(envelope.source)) throw refuse('The source is not a URI');
  if (runId.includes(':')) throw refuse('The run id has a colon');
  return (draft, seq) => {
    const event = dropUndefined({
      specversion: '1.0',
      datacontenttype: 'application/json',
      ...draft,
      ...envelope,
      assaypii: draft.assaypii ?? false,
      assaysecrets: draft.assaysecrets ?? false,
      id: `${runId}:${seq}`,
      assayrunid: runId,
      assayseq: seq,
      assaycontenthash: '',
    } satisfies BundleEvent);
    const dataText = canonicalJson(event.data);
    event.assaycontenthash = hash(writeContent(event, dataText));
    const text = writeEvent(event, dataText);
    if (Buffer.byteLength(text) > BUNDLE_LIMITS.lineBytes)
      throw new BundleError('LimitLineBytes', 'An event is too long', {
        member: EVENTS_NAME,
        line: seq + 1,
      });
    return { event, text };
  };
}

/** The canonical JSON of an event of which the data, which is most of it, is written already. */
function writeEvent(event: BundleEvent, dataText: string): string {
  let text = '';
  for (const name of Object.keys(event).sort() as (keyof BundleEvent)[]) {
    const member = name === 'data' ? dataText : canonicalJson(event[name]);
    text += `${text === '' ? '{' : ','}"${name}":${member}`;
  }
  return `${text}}`;
}

/** Canonical JSON has no undefined. */
function dropUndefined<T extends object>(value: T): T {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as T;
}

async function* listMembers(
  manifest: BundleManifest,
  spool: EventSpool,
): AsyncGenerator<Uint8Array> {
  const text = Buffer.from(canonicalJson(dropUndefined(manifest)), 'utf8');
  yield makeTarHeader(MANIFEST_NAME, text.length);
  yield text;
  yield new Uint8Array(paddingAfter(text.length));
  const bytes = manifest.files[EVENTS_NAME]?.bytes ?? 0;
  yield makeTarHeader(EVENTS_NAME, bytes);
  yield* spool.read();
  yield new Uint8Array(paddingAfter(bytes));
  yield END_OF_ARCHIVE;
}

/** One gzip member, with the header that says nothing about where and when it was made. */
async function* compress(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let crc = 0;
  let size = 0;
  async function* measure(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      crc = crc32(chunk, crc);
      size += chunk.length;
      yield chunk;
    }
  }
  yield PLAIN_GZIP_HEADER;
  yield* deflateRaw(measure());
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  yield trailer;
}

function refuse(message: string): BundleError {
  return new BundleError('ContractInvalidEvent', message, { member: EVENTS_NAME });
}
