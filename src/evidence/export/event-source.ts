import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';

/** A bundle that has been verified. Its events can be gone through more than once, and need not be in memory. */
export interface EventSource {
  readonly manifest: BundleManifest;
  readonly events: () => Iterable<BundleEvent>;
}
