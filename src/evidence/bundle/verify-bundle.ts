import { areEqualBytes } from '../../core/bytes.ts';
import { openSha256, type OpenHash } from '../../core/digest.ts';
import { MANIFEST_NAME, EVENTS_NAME, type BundleEvent, type BundleManifest } from './bundle.ts';
import { BundleError } from './bundle-error.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { listChecks, type BundleCheck } from './checks.ts';
import { EventsCheck } from './events-check.ts';
import { readGzip } from './gzip-reader.ts';
import { BUNDLE_LIMITS, type BundleLimits } from './limits.ts';
import { checkManifest, type CheckedManifest } from './manifest-check.ts';
import { makeTarHeader } from './tar-header.ts';
import { TarReader, type MemberName, type TarHandler } from './tar-reader.ts';

export interface VerifyOptions {
  readonly onManifest?: ((manifest: BundleManifest) => void) | undefined;
  /** Before the end is known to be good: whoever collects events must throw them away when verifyBundle() throws. */
  readonly onEvent?: ((event: BundleEvent, line: number) => void) | undefined;
  readonly limits?: Partial<BundleLimits> | undefined;
}

export interface VerifiedBundle {
  readonly manifest: BundleManifest;
  /** `upstream` is the older format, in which nothing binds the events to the manifest's run, producer and policy. */
  readonly kind: CheckedManifest['kind'];
  /** Of the archive. */
  readonly bytes: number;
  /** Of the archive, in hex. */
  readonly sha256: string;
  readonly checks: readonly BundleCheck[];
}

/**
 * Reads a bundle once from front to back, with memory that does not depend on its size, and throws a BundleError at the
 * first thing that is not as it must be.
 */
export async function verifyBundle(
  chunks: AsyncIterable<Uint8Array>,
  options: VerifyOptions = {},
): Promise<VerifiedBundle> {
  const limits = { ...BUNDLE_LIMITS, ...options.limits };
  const archive = new ArchiveMeter(limits);
  const members = new MembersCheck(limits, options);
  const tar = new TarReader(members, limits);
  const gzip = readGzip(archive.meter(chunks), limits);
  for await (const piece of gzip.decoded) tar.push(piece);
  tar.finish();
  const { manifest, kind } = members.finish({
    isPlainHeader: gzip.isPlainHeader(),
    fillBytes: tar.fillBytes,
  });
  return {
    manifest,
    kind,
    bytes: archive.bytes,
    sha256: archive.hash.digest('hex'),
    checks: listChecks(manifest, kind),
  };
}

class ArchiveMeter {
  readonly hash: OpenHash = openSha256();
  readonly #limit: number;
  bytes = 0;

  constructor({ bundleBytes }: BundleLimits) {
    this.#limit = bundleBytes;
  }

  async *meter(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      if (this.bytes > this.#limit)
        throw new BundleError('LimitBundleBytes', `It has more than ${this.#limit} bytes`);
      this.hash.update(chunk);
      yield chunk;
    }
  }
}

/** Gets the members one after the other: the manifest as a whole, the events piece by piece. */
class MembersCheck implements TarHandler {
  readonly #limits: BundleLimits;
  readonly #options: VerifyOptions;
  #manifestBytes = new ByteBuffer();
  #isPlainTar = true;
  #checked: CheckedManifest | undefined;
  #events: EventsCheck | undefined;

  constructor(limits: BundleLimits, options: VerifyOptions) {
    this.#limits = limits;
    this.#options = options;
  }

  onMember(name: MemberName, size: number, header: Uint8Array): void {
    if (!areEqualBytes(header, makeTarHeader(name, size))) this.#isPlainTar = false;
    if (name !== EVENTS_NAME) return;
    this.#requirePlain(this.#isPlainTar, 'A tar header is not the one that assay writes');
    this.#events = new EventsCheck(this.#manifest(), size, {
      limits: this.#limits,
      onEvent: this.#options.onEvent,
    });
  }

  onData(name: MemberName, piece: Uint8Array): void {
    if (name === MANIFEST_NAME) this.#manifestBytes.append(piece);
    else this.#events?.push(piece);
  }

  onMemberEnd(name: MemberName): void {
    if (name === EVENTS_NAME) {
      this.#events?.finish();
      return;
    }
    this.#checked = checkManifest(this.#manifestBytes.take(), this.#limits);
    this.#manifestBytes = new ByteBuffer();
    this.#options.onManifest?.(this.#checked.manifest);
  }

  finish({
    isPlainHeader,
    fillBytes,
  }: {
    isPlainHeader: boolean;
    fillBytes: number;
  }): CheckedManifest {
    this.#requirePlain(isPlainHeader, 'The gzip header is not the one that assay writes');
    if (fillBytes > 0 && this.#checked?.kind === 'sandbox')
      throw new BundleError('ContractTrailingData', 'Zeros follow the end of the archive');
    return this.#manifest();
  }

  /** Bytes that nothing looks at would be a place to hide something in. The older format leaves them open. */
  #requirePlain(isPlain: boolean, message: string): void {
    if (!isPlain && this.#checked?.kind === 'sandbox')
      throw new BundleError('ContractHeader', message);
  }

  #manifest(): CheckedManifest {
    // The tar reader has seen to it that both members were there, in order.
    if (!this.#checked) throw new BundleError('ContractMissingManifest', 'There is no manifest');
    return this.#checked;
  }
}
