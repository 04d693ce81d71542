import { canonicalJson } from '../../core/canonical-json.ts';
import { makeSha256 } from '../../core/digest.ts';
import type { BundleEvent, BundleManifest } from './bundle.ts';

export const HASH_PREFIX = 'sha256:';

/** The part of an event that its content hash covers: its meaning, without when, where and by whom it was written. */
export type EventContent = Pick<
  BundleEvent,
  'type' | 'subject' | 'datacontenttype' | 'data' | 'specversion'
>;

/** What a hash is made of, from the canonical text of `data`. */
export function writeContent(event: EventContent, dataText: string): string {
  const { datacontenttype, specversion, subject, type } = event;
  const subjectText = subject === undefined ? '' : `"subject":${JSON.stringify(subject)},`;
  return `{"data":${dataText},"datacontenttype":${JSON.stringify(datacontenttype)},"specversion":${JSON.stringify(specversion)},${subjectText}"type":${JSON.stringify(type)}}`;
}

/** `sha256:` and the digits, of text. */
export function makeHasher(): (text: string) => string {
  const sha256 = makeSha256();
  return (text) => HASH_PREFIX + sha256(text);
}

/** The parts of the manifest that are known before the events. */
export type ManifestIdentity = Omit<
  BundleManifest,
  'bundle_id' | 'run_root' | 'event_count' | 'files' | 'seal'
>;

/** What the first event of a run states, so that the run root covers the manifest. */
export function computeIdentity(manifest: ManifestIdentity): string {
  return hashWithout(manifest, ['bundle_id', 'run_root', 'event_count', 'files', 'seal']);
}

export function computeSeal(manifest: BundleManifest): string {
  return hashWithout(manifest, ['seal']);
}

function hashWithout(manifest: object, left: readonly string[]): string {
  const kept = Object.entries(manifest).filter(([name]) => !left.includes(name));
  return makeHasher()(canonicalJson(Object.fromEntries(kept)));
}
