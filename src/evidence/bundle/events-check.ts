import { openSha256 } from '../../core/digest.ts';
import { EVENTS_NAME, type BundleEvent, type BundleFile, type BundleManifest } from './bundle.ts';
import { BundleError, type BundleCode } from './bundle-error.ts';
import { HASH_PREFIX } from './content-hash.ts';
import { EventCheck } from './event-check.ts';
import type { BundleLimits } from './limits.ts';
import { LineSplitter } from './line-splitter.ts';
import { listedEvents, type CheckedManifest } from './manifest-check.ts';
import { isSandboxEvent, SandboxCheck } from './sandbox-check.ts';

/** Text is handed to the hash in pieces of about this many characters. */
const BATCH_LENGTH = 16 * 1024;

/** The member with the events: each one by itself, then all of them together against the manifest. */
export class EventsCheck {
  readonly #manifest: BundleManifest;
  readonly #file: BundleFile;
  readonly #onEvent: ((event: BundleEvent, line: number) => void) | undefined;
  readonly #each: EventCheck;
  readonly #ours: SandboxCheck | undefined;
  readonly #splitter: LineSplitter;
  readonly #fileHash = openSha256();
  readonly #rootHash = openSha256();
  #rootText = '';

  constructor(
    { manifest, kind }: CheckedManifest,
    size: number,
    {
      limits,
      onEvent,
    }: {
      readonly limits: BundleLimits;
      readonly onEvent: ((event: BundleEvent, line: number) => void) | undefined;
    },
  ) {
    const file = listedEvents(manifest);
    if (!file) throw refuse('ContractMissingFile', 'The manifest does not list it');
    if (file.bytes !== size)
      throw refuse(
        'IntegrityFileSizeMismatch',
        `It has ${size} bytes; the manifest says ${file.bytes}`,
      );
    this.#manifest = manifest;
    this.#file = file;
    this.#onEvent = onEvent;
    this.#each = new EventCheck(manifest, { limits, isOurs: kind === 'sandbox' });
    this.#ours = manifest.sandbox && new SandboxCheck(manifest, manifest.sandbox);
    this.#splitter = new LineSplitter((line) => this.#checkLine(line), limits.lineBytes);
  }

  push(piece: Uint8Array): void {
    this.#fileHash.update(piece);
    this.#splitter.push(piece);
  }

  finish(): void {
    if (this.#splitter.finish() && this.#ours)
      throw refuse('ContractNotCanonical', 'The last line has no line feed');
    const { event_count: count, run_root: root, bundle_id: id } = this.#manifest;
    // Without its prefix it counts as well in the older format.
    const fileHash = this.#fileHash.digest('hex');
    if (
      this.#file.sha256 !== HASH_PREFIX + fileHash &&
      (this.#ours || this.#file.sha256 !== fileHash)
    )
      throw refuse('IntegrityManifestHash', 'Its hash is not the one in the manifest');
    if (this.#each.count === 0) throw refuse('ContractInvalidEvent', 'There is no event');
    if (this.#each.count !== count)
      throw refuse(
        'ContractSequenceGap',
        `There are ${this.#each.count} events; the manifest says ${count}`,
      );
    this.#rootHash.update(this.#rootText);
    if (HASH_PREFIX + this.#rootHash.digest('hex') !== root)
      throw refuse('IntegrityRunRootMismatch', 'The run root is not that of the events');
    if (id !== root) throw refuse('ContractBundleIdMismatch', 'The bundle id is not the run root');
    this.#ours?.finish();
  }

  #checkLine(line: Uint8Array): void {
    const event = this.#each.checkLine(line);
    if (this.#ours) this.#ours.check(event);
    else if (isSandboxEvent(event))
      throw new BundleError(
        'IntegrityIdentity',
        'The events are those of a sandboxed run, but the manifest has no sandbox',
        { member: EVENTS_NAME, line: this.#each.count },
      );
    this.#rootText += `${event.assaycontenthash}\n`;
    if (this.#rootText.length > BATCH_LENGTH) {
      this.#rootHash.update(this.#rootText);
      this.#rootText = '';
    }
    this.#onEvent?.(event, this.#each.count);
  }
}

function refuse(code: BundleCode, message: string): BundleError {
  return new BundleError(code, message, { member: EVENTS_NAME });
}
