import { createReadStream } from 'node:fs';

import type { BundleEvent, BundleManifest } from '../../src/evidence/bundle/bundle.ts';
import { verifyBundle } from '../../src/evidence/bundle/verify-bundle.ts';

export interface ReadBundle {
  readonly manifest: BundleManifest;
  readonly events: readonly BundleEvent[];
  /** Of the file, in hex. */
  readonly sha256: string;
}

/** Fails unless the bundle is intact. */
export async function readBundle(path: string): Promise<ReadBundle> {
  const events: BundleEvent[] = [];
  const { manifest, sha256 } = await verifyBundle(createReadStream(path), {
    onEvent: (event) => void events.push(event),
  });
  return { manifest, events, sha256 };
}

/** The data of all events of one of our types, such as `fs`. */
export function dataOf({ events }: ReadBundle, type: string): Record<string, unknown>[] {
  return events
    .filter((event) => event.type === `assay.sandbox.${type}`)
    .map(({ data }) => data as Record<string, unknown>);
}
