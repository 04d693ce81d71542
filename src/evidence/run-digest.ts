import { canonicalJson } from '../core/canonical-json.ts';
import { openSha256 } from '../core/digest.ts';
import type { CanonicalLine } from './normalise/canonical-line.ts';

const SCHEMA = 'assay.run-id.v1';
/** Text is handed over in pieces of about this many characters, since each call takes its time. */
const BATCH_LENGTH = 32 * 1024;

/** What goes into the digest of a run beside its lines. */
export interface RunFrame {
  readonly command: readonly string[];
  readonly degradations: readonly string[];
  readonly end: {
    /** Empty when there was none; so is the limit. */
    readonly execError: string;
    readonly exitCode: number;
    readonly isTimedOut: boolean;
    readonly limit: string;
    readonly signal: number;
  };
}

/** The digest of lines that come one at a time, in order. Without a frame it is that of the lines alone. */
export class RunDigest {
  readonly #hash = openSha256();
  #text: string;
  #comma = '';

  constructor(frame?: RunFrame) {
    // Canonical JSON, opened at the place where the lines belong: no name but `schema` comes after theirs.
    const head = frame ? `${canonicalJson(frame).slice(0, -1)},` : '{';
    this.#text = `${head}"lines":[`;
  }

  add(line: CanonicalLine): void {
    this.#text += this.#comma + writeParts(listParts(line));
    this.#comma = ',';
    if (this.#text.length < BATCH_LENGTH) return;
    this.#hash.update(this.#text);
    this.#text = '';
  }

  /** In hex; nothing can be added any more. */
  finish(): string {
    this.#hash.update(`${this.#text}],"schema":${canonicalJson(SCHEMA)}}`);
    return this.#hash.digest('hex');
  }
}

/** By position; what is absent is null. */
function listParts(line: CanonicalLine): readonly (string | null)[] {
  const { op, path, target, outcome, program, refusedBy, digest } = line;
  return [op, path, target ?? null, outcome, program, refusedBy ?? null, digest ?? null];
}

/** Canonical, in less time: of strings, only half of a surrogate pair is written otherwise, as an escape. */
function writeParts(parts: readonly (string | null)[]): string {
  const text = JSON.stringify(parts);
  return text.includes(String.raw`\ud`) ? canonicalJson(parts) : text;
}

/** The short form of a digest in hex. */
export function runIdOf(digest: string): string {
  return `sandbox_${digest.slice(0, 16)}`;
}
