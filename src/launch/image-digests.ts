import { closeSync, fstatSync, openSync, read } from 'node:fs';

/** What is known of an image from when it ran. */
export interface KnownImage {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

interface Program {
  readonly id: number;
  readonly image: string;
  readonly digest?: string | undefined;
}

/** Where an image of the run is for us; null when it is left out, or nobody can tell. */
export type LocateImage = (image: string) => Buffer | null;

const MAX_KNOWN = 1000;
const CHUNK_BYTES = 1 << 20;

/**
 * Digests of the images that the helper left to us: those that the run cannot change. Each is read once, while other things
 * go on, one after another: to read those of large runtimes takes longer than all that is left to do after a run.
 */
export class ImageDigests {
  readonly #known = new Map<string, Promise<string | undefined>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Undefined for what is not the file that ran, or cannot be read. */
  async find(
    program: Program,
    state: KnownImage,
    locate: LocateImage,
  ): Promise<string | undefined> {
    const host = program.digest === undefined ? locate(program.image) : null;
    if (host === null) return undefined;
    const { dev, ino, size, mtimeNs, ctimeNs } = state;
    const key = [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    const known = this.#known.get(key);
    if (known) return known;
    const digest = this.#last.then(async () => digestImage(host, state));
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, digest);
    this.#last = digest;
    return digest;
  }

  /** The programs with all that could be read. */
  async addTo<P extends Program>(
    programs: readonly P[],
    images: ReadonlyMap<number, KnownImage>,
    locate: LocateImage,
  ): Promise<P[]> {
    return Promise.all(
      programs.map(async (program) => {
        const state = images.get(program.id);
        const digest = state && (await this.find(program, state, locate));
        return digest === undefined ? program : { ...program, digest };
      }),
    );
  }
}

/** SHA-256 of an image, if the file is still the one that ran; undefined if it is not, or may not be read. */
export async function digestImage(host: Buffer, known: KnownImage): Promise<string | undefined> {
  const fd = openImage(host);
  if (fd === undefined) return undefined;
  try {
    if (!isTheOne(fd, known)) return undefined;
    const digest = await hashFile(fd);
    return isTheOne(fd, known) ? digest : undefined;
  } finally {
    closeSync(fd);
  }
}

function openImage(host: Buffer): number | undefined {
  try {
    return openSync(host, 'r');
  } catch {
    return undefined;
  }
}

function isTheOne(fd: number, known: KnownImage): boolean {
  const now = fstatSync(fd, { bigint: true });
  return (
    String(now.dev) === known.dev &&
    String(now.ino) === known.ino &&
    String(now.size) === known.size &&
    String(now.mtimeNs) === known.mtimeNs &&
    String(now.ctimeNs) === known.ctimeNs
  );
}

/** Undefined when it cannot be read to its end. */
async function hashFile(fd: number): Promise<string | undefined> {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  return new Promise((resolve) => {
    const next = (): void => {
      read(fd, bytes, 0, CHUNK_BYTES, null, (error, got) => {
        if (error) resolve(undefined);
        else if (got === 0) resolve(hash.digest('hex'));
        else {
          hash.update(bytes.subarray(0, got));
          next();
        }
      });
    };
    next();
  });
}
