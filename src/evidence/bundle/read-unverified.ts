import { EVENTS_NAME, type BundleEvent, type BundleManifest, MANIFEST_NAME } from './bundle.ts';
import { BundleError } from './bundle-error.ts';
import { readGzip } from './gzip-reader.ts';
import { BUNDLE_LIMITS } from './limits.ts';
import { LineSplitter } from './line-splitter.ts';
import { isRecord } from './shape.ts';
import { type MemberName, TarReader } from './tar-reader.ts';

export interface UnverifiedHandler {
  onManifest(manifest: BundleManifest): void;
  onEvent(event: BundleEvent): void;
  /** A line that is no event. */
  onBadLine(line: number): void;
}

/**
 * What is in a bundle, whether it is true or not: no hash, no order, no agreement is looked at. Sizes are bounded as
 * for any other bundle. Throws a BundleError where the archive itself cannot be read on.
 */
export async function readUnverified(
  chunks: AsyncIterable<Uint8Array>,
  handler: UnverifiedHandler,
): Promise<void> {
  const members = new UnverifiedMembers(handler);
  const tar = new TarReader(members, BUNDLE_LIMITS);
  for await (const piece of readGzip(limitBytes(chunks), BUNDLE_LIMITS).decoded) tar.push(piece);
  tar.finish();
}

async function* limitBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > BUNDLE_LIMITS.bundleBytes)
      throw new BundleError(
        'LimitBundleBytes',
        `It has more than ${BUNDLE_LIMITS.bundleBytes} bytes`,
      );
    yield chunk;
  }
}

class UnverifiedMembers {
  readonly #handler: UnverifiedHandler;
  readonly #lines: LineSplitter;
  #manifestPieces: Uint8Array[] = [];
  #count = 0;

  constructor(handler: UnverifiedHandler) {
    this.#handler = handler;
    this.#lines = new LineSplitter((line) => this.#addLine(line), BUNDLE_LIMITS.lineBytes);
  }

  onMember(): void {
    // Where a member starts says nothing about what is in it.
  }

  onData(name: MemberName, piece: Uint8Array): void {
    if (name === EVENTS_NAME) this.#lines.push(piece);
    else this.#manifestPieces.push(piece);
  }

  onMemberEnd(name: MemberName): void {
    if (name === EVENTS_NAME) this.#lines.finish();
    else this.#handler.onManifest(fillManifest(parse(Buffer.concat(this.#manifestPieces))));
  }

  #addLine(line: Uint8Array): void {
    this.#count += 1;
    if (this.#count > BUNDLE_LIMITS.events)
      throw new BundleError('LimitTotalEvents', `It has more than ${BUNDLE_LIMITS.events} events`);
    const event = parse(line);
    if (isRecord(event)) this.#handler.onEvent(fillEvent(event, this.#count - 1));
    else this.#handler.onBadLine(this.#count);
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** What readers rely on is there; everything else stays as it was found. */
function fillEvent(event: Readonly<Record<string, unknown>>, line: number): BundleEvent {
  const { type, time, assayseq: seq, subject, ...rest } = event;
  return {
    ...rest,
    type: typeof type === 'string' ? type : '',
    time: typeof time === 'string' ? time : '',
    assayseq: typeof seq === 'number' ? seq : line,
    ...(typeof subject === 'string' && { subject }),
  } as BundleEvent;
}

function fillManifest(found: unknown): BundleManifest {
  if (!isRecord(found))
    throw new BundleError('ContractInvalidJson', 'It is not JSON, or not an object', {
      member: MANIFEST_NAME,
    });
  const { producer } = found;
  const { name, version } = isRecord(producer) ? producer : {};
  return {
    ...found,
    bundle_id: textOf(found['bundle_id']),
    run_id: textOf(found['run_id']),
    event_count: Number(found['event_count']) || 0,
    producer: { ...(producer as object), name: textOf(name), version: textOf(version) },
  } as BundleManifest;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
