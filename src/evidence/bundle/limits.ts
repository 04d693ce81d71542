/** What a reader takes at most; exactly so much is still taken. */
export interface BundleLimits {
  /** Of the archive. */
  readonly bundleBytes: number;
  /** Of the tar stream inside it. */
  readonly decodedBytes: number;
  /** Decoded bytes for each byte of the deflate stream, not counting the first `ratioFromBytes`. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
  readonly manifestBytes: number;
  readonly events: number;
  /** Without the line feed. */
  readonly lineBytes: number;
  readonly pathBytes: number;
  readonly jsonDepth: number;
  readonly objectKeys: number;
  readonly stringLength: number;
}

const MIB = 1024 * 1024;

export const BUNDLE_LIMITS: BundleLimits = {
  bundleBytes: 512 * MIB,
  decodedBytes: 4096 * MIB,
  // Every event has a hash of its own, which no compression takes below 32 bytes; but a program that is out for it, with
  // control characters in the longest name there is, comes to more than 200.
  ratio: 500,
  ratioFromBytes: 64 * MIB,
  manifestBytes: 10 * MIB,
  events: 2_000_000,
  lineBytes: MIB,
  pathBytes: 256,
  jsonDepth: 64,
  objectKeys: 10_000,
  stringLength: 1_048_576,
};
