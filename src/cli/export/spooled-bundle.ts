import type { BundleEvent, BundleManifest } from '../../evidence/bundle/bundle.ts';
import type { VerifiedBundle } from '../../evidence/bundle/verify-bundle.ts';
import type { EventSource } from '../../evidence/export/event-source.ts';
import { scanBundle } from '../bundle-file.ts';
import { SpoolFile } from './spool-file.ts';

const CHUNK_CHARACTERS = 256 * 1024;

/**
 * The events of a bundle, kept aside while it is verified: whether it is good is known at its end, and until then
 * nothing of it may leave.
 */
export class SpooledBundle implements EventSource {
  readonly manifest: BundleManifest;
  readonly kind: VerifiedBundle['kind'];
  readonly #spool: SpoolFile;

  private constructor({ manifest, kind }: VerifiedBundle, spool: SpoolFile) {
    this.manifest = manifest;
    this.kind = kind;
    this.#spool = spool;
  }

  static async open(path: string): Promise<SpooledBundle> {
    const spool = new SpoolFile();
    try {
      let lines = '';
      const verified = await scanBundle(path, {
        onEvent(event) {
          lines += `${JSON.stringify(event)}\n`;
          if (lines.length < CHUNK_CHARACTERS) return;
          spool.write(Buffer.from(lines));
          lines = '';
        },
      });
      spool.write(Buffer.from(lines));
      return new SpooledBundle(verified, spool);
    } catch (error) {
      spool.close();
      throw error;
    }
  }

  readonly events = (): Iterable<BundleEvent> => this.#read();

  *#read(): Iterable<BundleEvent> {
    const decoder = new TextDecoder();
    let rest = '';
    for (const chunk of this.#spool.read()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as BundleEvent;
    }
  }

  close(): void {
    this.#spool.close();
  }
}
