import { digestImage, type KnownImage } from '../../launch/image-digest.ts';
import { encodeName } from '../../observe/name-bytes.ts';

const MAX_KNOWN = 1000;

/** Digests of programs of the system, each taken once: the same ones run again and again. */
export class ImageDigests {
  readonly #known = new Map<string, string | undefined>();

  /** Undefined for what is not the file that ran, or cannot be read. */
  find(image: string, state: KnownImage): string | undefined {
    const { dev, ino, size, mtimeNs, ctimeNs } = state;
    const key = [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    if (!this.#known.has(key)) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(key, digestImage(encodeName(image), state));
    }
    return this.#known.get(key);
  }
}
