import { BundleError } from '../../evidence/bundle/bundle-error.ts';
import { verifyBundle } from '../../evidence/bundle/verify-bundle.ts';
import { addEvent, makeModel, type RunModel } from './model.ts';
import type { Verification } from './verification.ts';

export interface Embedded {
  readonly model: RunModel;
  readonly verification: Verification;
}

/** Reads and checks the archive; what the page shows comes from here and from nowhere else. */
export async function verifyEmbedded(
  archive: Uint8Array<ArrayBuffer>,
  onProgress: (share: number) => void,
): Promise<Embedded> {
  const model = makeModel();
  const startMs = performance.now();
  try {
    const result = await verifyBundle(giveOnce(archive), {
      onManifest: (manifest) => {
        model.manifest = manifest;
      },
      onEvent: (event) => {
        addEvent(model, event);
        if (model.rows.length % 1024 === 0)
          onProgress(model.rows.length / (model.manifest?.event_count ?? Infinity));
      },
    });
    model.isPartial = false;
    return { model, verification: { isIntact: true, result, tookMs: performance.now() - startMs } };
  } catch (error) {
    return { model, verification: { isIntact: false, ...describeFailure(error) } };
  }
}

// oxlint-disable-next-line require-await -- the verifier takes what comes by and by
async function* giveOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function describeFailure(error: unknown): {
  code: string;
  reason: string;
  message: string;
  place: string;
} {
  if (!(error instanceof BundleError))
    return { code: 'Internal', reason: 'E_INTERNAL', message: String(error), place: '' };
  const { code, reason, message, at } = error;
  const line = at?.line === undefined ? '' : `, line ${at.line}`;
  return { code, reason, message, place: at ? at.member + line : '' };
}
