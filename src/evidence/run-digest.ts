import { canonicalJson } from '../core/canonical-json.ts';
import { openSha256 } from '../core/digest.ts';
import type { CanonicalLine } from './normalise/canonical-line.ts';

const SCHEMA = 'assay.run-id.v1';
/** Text is handed over in pieces of about this many characters, since each call takes its time. */
const BATCH_LENGTH = 32 * 1024;

/** What goes into the digest of a run beside its lines. */
export interface RunFrame {
  readonly command: readonly string[];
  /** More can be added. */
  readonly degradations?: readonly string[] | undefined;
  readonly end: {
    /** Empty when there was none; so is the limit. */
    readonly execError: string;
    readonly exitCode: number;
    readonly isTimedOut: boolean;
    readonly limit: string;
    readonly signal: number;
  };
}

/**
 * The digest of degradations and lines that come one at a time, in order. Without a frame it is that of the lines alone.
 * What is hashed is the canonical JSON of all of it, which happens to have them in the order in which they come.
 */
export class RunDigest {
  readonly #hash = openSha256();
  /** What stands between the degradations and the lines. */
  readonly #middle: string;
  #text: string;
  #hasLines = false;
  #comma = '';

  constructor(frame?: RunFrame) {
    if (!frame) {
      this.#text = '{';
      this.#middle = '"lines":[';
      return;
    }
    const { command, degradations = [], end } = frame;
    this.#text = `{"command":${canonicalJson(command)},"degradations":[`;
    this.#middle = `],"end":${canonicalJson(end)},"lines":[`;
    for (const degradation of degradations) this.addDegradation(degradation);
  }

  /** Before the first line. */
  addDegradation(text: string): void {
    this.#write(canonicalJson(text));
  }

  add(line: CanonicalLine): void {
    this.#startLines();
    this.#write(writeParts(listParts(line)));
  }

  /** In hex; nothing can be added any more. */
  finish(): string {
    this.#startLines();
    this.#hash.update(`${this.#text}],"schema":${canonicalJson(SCHEMA)}}`);
    return this.#hash.digest('hex');
  }

  #startLines(): void {
    if (this.#hasLines) return;
    this.#hasLines = true;
    this.#text += this.#middle;
    this.#comma = '';
  }

  #write(item: string): void {
    this.#text += this.#comma + item;
    this.#comma = ',';
    if (this.#text.length < BATCH_LENGTH) return;
    this.#hash.update(this.#text);
    this.#text = '';
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
