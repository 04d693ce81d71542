import { closeSync, readSync, writeSync } from 'node:fs';
import { AtomicFile } from './atomic-file.ts';
import { canonicalJson } from '../core/canonical-json.ts';
import { openSha256 } from '../core/digest.ts';
import { AssayError } from '../core/errors.ts';
import { VERSION } from '../core/version.ts';
import { makeEvents } from '../evidence/bundle/make-events.ts';
import { makeManifestBase } from '../evidence/bundle/manifest-base.ts';
import { type EventSpool, writeBundle } from '../evidence/bundle/write-bundle.ts';
import type { GeneralRun } from '../evidence/general-run.ts';
import {
  digestEffectivePolicy,
  type EffectivePolicy,
  listToolchain,
  makeEffectivePolicy,
} from '../policy/effective-policy.ts';
import type { Policy, Variables } from '../policy/policy.ts';

const CHUNK_BYTES = 1 << 16;
/** The policy is one event, and has to fit into the longest line that a reader takes. */
const MAX_POLICY_BYTES = 1_000_000;

export interface BundleFileInput {
  readonly path: string;
  readonly policy: Policy;
  readonly variables: Variables;
}

export interface WrittenBundle {
  readonly path: string;
  readonly bundleId: string;
  /** Of the whole file. */
  readonly sha256: string;
}

/** The bundle of a run that is about to start. Whatever is wrong with it is said before the program runs. */
export class BundleFile {
  readonly #file: AtomicFile;
  readonly #policy: EffectivePolicy;
  readonly #toolchain: readonly string[];

  constructor({ path, policy, variables }: BundleFileInput) {
    this.#policy = makeEffectivePolicy(policy, variables);
    this.#toolchain = listToolchain(policy, variables);
    if (Buffer.byteLength(canonicalJson(this.#policy)) > MAX_POLICY_BYTES)
      throw refuseBundle(path, 'the policy is too long for one event');
    this.#file = new AtomicFile(path, 'the evidence bundle');
  }

  get path(): string {
    return this.#file.path;
  }

  async write(run: GeneralRun): Promise<WrittenBundle> {
    const scratch = this.#file.openScratch();
    try {
      const policyDigest = digestEffectivePolicy(this.#policy);
      const base = makeManifestBase(run, { assayVersion: VERSION, policyDigest });
      const events = makeEvents({ run, base, policy: this.#policy, toolchain: this.#toolchain });
      const { manifest, archive } = writeBundle({
        manifest: base,
        events,
        spool: toSpool(scratch),
      });
      const hash = openSha256();
      await this.#file.writeStream(tee(archive, (piece) => hash.update(piece)));
      return { path: this.path, bundleId: manifest.bundle_id, sha256: hash.digest('hex') };
    } finally {
      closeSync(scratch);
    }
  }

  close(): void {
    this.#file.close();
  }
}

/** The events are written once and read once, and never all in memory. */
function toSpool(fd: number): EventSpool {
  return {
    write(chunk) {
      for (let done = 0; done < chunk.length;) done += writeSync(fd, chunk, done);
    },
    *read() {
      // One for all: whoever reads is done with a piece when the next one is asked for.
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      for (let at = 0; ;) {
        const got = readSync(fd, chunk, 0, CHUNK_BYTES, at);
        if (got === 0) return;
        at += got;
        yield chunk.subarray(0, got);
      }
    },
  };
}

async function* tee(
  pieces: AsyncIterable<Uint8Array>,
  see: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    see(piece);
    yield piece;
  }
}

function refuseBundle(path: string, problem: string): AssayError {
  return new AssayError('E_USAGE', `Cannot write the evidence bundle to "${path}": ${problem}`, {
    hint: 'Name a file of its own, such as run.bundle.tar.gz',
  });
}
