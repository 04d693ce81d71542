import { toPrintable } from '../../core/printable.ts';

/** A name in a message may be as long as a line of a bundle. */
const MAX_MESSAGE_LENGTH = 300;

/** Why a bundle is refused, by kind of failure. Each kind has one exit code, which never changes. */
export const BUNDLE_REASONS = {
  E_EVIDENCE_INTEGRITY: 1,
  E_EVIDENCE_CONTRACT: 2,
  E_EVIDENCE_LIMIT_EXCEEDED: 5,
  E_EVIDENCE_PATH_REJECTED: 6,
  E_EVIDENCE_UNREADABLE: 7,
} as const;

export type BundleReason = keyof typeof BUNDLE_REASONS;

/** Every code that a bundle can fail with. `docs/bundle-format.md` explains each one; a test keeps the two in step. */
export const BUNDLE_CODES = {
  IntegrityIo: 'E_EVIDENCE_UNREADABLE',
  IntegrityGzip: 'E_EVIDENCE_UNREADABLE',
  IntegrityGzipTruncated: 'E_EVIDENCE_UNREADABLE',
  IntegrityGzipCrc: 'E_EVIDENCE_UNREADABLE',
  IntegrityGzipSize: 'E_EVIDENCE_UNREADABLE',
  IntegrityTar: 'E_EVIDENCE_UNREADABLE',
  IntegrityTarChecksum: 'E_EVIDENCE_UNREADABLE',
  IntegrityTarTruncated: 'E_EVIDENCE_UNREADABLE',
  IntegrityTarEnd: 'E_EVIDENCE_UNREADABLE',

  IntegrityEventHash: 'E_EVIDENCE_INTEGRITY',
  IntegrityManifestHash: 'E_EVIDENCE_INTEGRITY',
  IntegrityFileSizeMismatch: 'E_EVIDENCE_INTEGRITY',
  IntegrityRunRootMismatch: 'E_EVIDENCE_INTEGRITY',
  IntegritySeal: 'E_EVIDENCE_INTEGRITY',
  IntegrityIdentity: 'E_EVIDENCE_INTEGRITY',
  IntegrityRunDigest: 'E_EVIDENCE_INTEGRITY',

  ContractTrailingData: 'E_EVIDENCE_CONTRACT',
  ContractConcatenated: 'E_EVIDENCE_CONTRACT',
  ContractPadding: 'E_EVIDENCE_CONTRACT',
  ContractHeader: 'E_EVIDENCE_CONTRACT',
  ContractUnexpectedFile: 'E_EVIDENCE_CONTRACT',
  ContractDuplicateFile: 'E_EVIDENCE_CONTRACT',
  ContractFileOrder: 'E_EVIDENCE_CONTRACT',
  ContractMissingManifest: 'E_EVIDENCE_CONTRACT',
  ContractMissingFile: 'E_EVIDENCE_CONTRACT',
  ContractInvalidJson: 'E_EVIDENCE_CONTRACT',
  ContractDuplicateKey: 'E_EVIDENCE_CONTRACT',
  ContractLoneSurrogate: 'E_EVIDENCE_CONTRACT',
  ContractNumber: 'E_EVIDENCE_CONTRACT',
  ContractNotCanonical: 'E_EVIDENCE_CONTRACT',
  ContractSchemaVersion: 'E_EVIDENCE_CONTRACT',
  ContractManifest: 'E_EVIDENCE_CONTRACT',
  ContractAlgorithm: 'E_EVIDENCE_CONTRACT',
  ContractRunId: 'E_EVIDENCE_CONTRACT',
  ContractBundleIdMismatch: 'E_EVIDENCE_CONTRACT',
  ContractInvalidEvent: 'E_EVIDENCE_CONTRACT',
  ContractEnvelope: 'E_EVIDENCE_CONTRACT',
  ContractTime: 'E_EVIDENCE_CONTRACT',
  ContractSequenceStart: 'E_EVIDENCE_CONTRACT',
  ContractSequenceGap: 'E_EVIDENCE_CONTRACT',
  ContractRunIdMismatch: 'E_EVIDENCE_CONTRACT',
  ContractEventType: 'E_EVIDENCE_CONTRACT',
  ContractEventOrder: 'E_EVIDENCE_CONTRACT',
  ContractEventData: 'E_EVIDENCE_CONTRACT',
  ContractEventMissing: 'E_EVIDENCE_CONTRACT',
  ContractDisagreement: 'E_EVIDENCE_CONTRACT',

  LimitBundleBytes: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitDecodeBytes: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitRatio: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitFileSize: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitPathLength: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitLineBytes: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitTotalEvents: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitJsonDepth: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitJsonKeys: 'E_EVIDENCE_LIMIT_EXCEEDED',
  LimitJsonString: 'E_EVIDENCE_LIMIT_EXCEEDED',

  SecurityPathTraversal: 'E_EVIDENCE_PATH_REJECTED',
  SecurityAbsolutePath: 'E_EVIDENCE_PATH_REJECTED',
  SecurityMemberName: 'E_EVIDENCE_PATH_REJECTED',
  SecurityLink: 'E_EVIDENCE_PATH_REJECTED',
  SecurityExtendedHeader: 'E_EVIDENCE_PATH_REJECTED',
  SecurityLongName: 'E_EVIDENCE_PATH_REJECTED',
  SecuritySparse: 'E_EVIDENCE_PATH_REJECTED',
  SecurityMemberType: 'E_EVIDENCE_PATH_REJECTED',
} as const satisfies Record<string, BundleReason>;

export type BundleCode = keyof typeof BUNDLE_CODES;

/** In which member of the archive, and on which line of it; lines start at 1. */
export interface BundlePlace {
  readonly member: string;
  readonly line?: number | undefined;
}

/** A bundle that is not what it says. Names that it quotes are harmless on a terminal. */
export class BundleError extends Error {
  readonly code: BundleCode;
  readonly at: BundlePlace | undefined;
  /** The name of the archive, where it is known. */
  file: string | undefined;

  constructor(code: BundleCode, message: string, at?: BundlePlace, cause?: unknown) {
    super(
      toPrintable(message.slice(0, MAX_MESSAGE_LENGTH)),
      cause === undefined ? undefined : { cause },
    );
    this.name = 'BundleError';
    this.code = code;
    this.at = at;
  }

  get reason(): BundleReason {
    return BUNDLE_CODES[this.code];
  }

  get exitCode(): number {
    return BUNDLE_REASONS[this.reason];
  }
}
