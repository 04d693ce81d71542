import { decodeLatin1 } from '../../core/bytes.ts';
import { toPrintable } from '../../core/printable.ts';
import { EVENTS_NAME, MANIFEST_NAME } from './bundle.ts';
import { BundleError, type BundleCode } from './bundle-error.ts';
import type { BundleLimits } from './limits.ts';
import {
  BLOCK_BYTES,
  paddingAfter,
  parseTarHeader,
  sumHeader,
  type TarHeader,
} from './tar-header.ts';

export type MemberName = typeof MANIFEST_NAME | typeof EVENTS_NAME;

/** Who gets what is in the archive, piece by piece. */
export interface TarHandler {
  /** The header as it stands there. */
  onMember(name: MemberName, size: number, header: Uint8Array): void;
  onData(name: MemberName, piece: Uint8Array): void;
  onMemberEnd(name: MemberName): void;
}

/** Programs that write whole tapes fill up the last one. */
const MAX_FILL_BYTES = 1024 * 1024;

const REFUSED_TYPES: Readonly<Record<string, readonly [BundleCode, string]>> = {
  '1': ['SecurityLink', 'a hard link'],
  '2': ['SecurityLink', 'a symbolic link'],
  '3': ['SecurityMemberType', 'a device'],
  '4': ['SecurityMemberType', 'a device'],
  '5': ['SecurityMemberType', 'a directory'],
  '6': ['SecurityMemberType', 'a named pipe'],
  x: ['SecurityExtendedHeader', 'an extended header'],
  g: ['SecurityExtendedHeader', 'an extended header'],
  X: ['SecurityExtendedHeader', 'an extended header'],
  L: ['SecurityLongName', 'a long name'],
  K: ['SecurityLongName', 'the long name of a link'],
  S: ['SecuritySparse', 'a file with holes'],
};

type State = 'header' | 'data' | 'padding' | 'last-block' | 'fill';

/** Takes an archive of exactly the two members apart, in whatever pieces it comes, and keeps no more than one block. */
export class TarReader {
  readonly #handler: TarHandler;
  readonly #limits: BundleLimits;
  readonly #block = new Uint8Array(BLOCK_BYTES);
  readonly #seen: MemberName[] = [];
  #state: State = 'header';
  #blockBytes = 0;
  /** Of the data, the padding or the fill. */
  #left = 0;
  #padding = 0;
  #member: MemberName = MANIFEST_NAME;
  #fillBytes = 0;

  constructor(handler: TarHandler, limits: BundleLimits) {
    this.#handler = handler;
    this.#limits = limits;
  }

  /** What follows the two blocks of zeros at the end. assay writes nothing there. */
  get fillBytes(): number {
    return this.#fillBytes;
  }

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length)
      if (this.#state === 'data') at += this.#pushData(chunk.subarray(at));
      else if (this.#state === 'padding') at += this.#pushPadding(chunk.subarray(at));
      else if (this.#state === 'fill') at += this.#pushFill(chunk.subarray(at));
      else at += this.#pushBlock(chunk.subarray(at));
  }

  /** When there is no more. */
  finish(): void {
    if (this.#state === 'data' || this.#state === 'padding' || this.#blockBytes > 0)
      throw new BundleError('IntegrityTarTruncated', 'The archive ends inside a member or a block');
    if (this.#state !== 'fill')
      throw new BundleError('IntegrityTarEnd', 'The archive has no two blocks of zeros at its end');
  }

  #pushData(bytes: Uint8Array): number {
    const piece = bytes.subarray(0, this.#left);
    this.#handler.onData(this.#member, piece);
    this.#left -= piece.length;
    if (this.#left === 0) this.#endData();
    return piece.length;
  }

  #endData(): void {
    this.#handler.onMemberEnd(this.#member);
    this.#left = this.#padding;
    this.#state = this.#left > 0 ? 'padding' : 'header';
  }

  #pushPadding(bytes: Uint8Array): number {
    const piece = bytes.subarray(0, this.#left);
    if (!isZero(piece))
      throw new BundleError('ContractPadding', 'The padding after a member is not zero', {
        member: this.#member,
      });
    this.#left -= piece.length;
    if (this.#left === 0) this.#state = 'header';
    return piece.length;
  }

  #pushFill(bytes: Uint8Array): number {
    this.#fillBytes += bytes.length;
    if (this.#fillBytes > MAX_FILL_BYTES || !isZero(bytes))
      throw new BundleError('ContractTrailingData', 'Something follows the end of the archive');
    return bytes.length;
  }

  #pushBlock(bytes: Uint8Array): number {
    const piece = bytes.subarray(0, BLOCK_BYTES - this.#blockBytes);
    this.#block.set(piece, this.#blockBytes);
    this.#blockBytes += piece.length;
    if (this.#blockBytes === BLOCK_BYTES) {
      this.#blockBytes = 0;
      this.#takeBlock();
    }
    return piece.length;
  }

  #takeBlock(): void {
    const isEnd = isZero(this.#block);
    if (this.#state === 'last-block') {
      if (!isEnd)
        throw new BundleError('IntegrityTarEnd', 'A single block of zeros stands between members');
      this.#state = 'fill';
    } else if (isEnd) this.#endMembers();
    else this.#startMember(parseTarHeader(this.#block));
  }

  #endMembers(): void {
    if (this.#seen.length === 0)
      throw new BundleError('ContractMissingManifest', `The archive has no ${MANIFEST_NAME}`);
    if (this.#seen.length === 1)
      throw new BundleError('ContractMissingFile', `The archive has no ${EVENTS_NAME}`);
    this.#state = 'last-block';
  }

  #startMember(header: TarHeader): void {
    const { size, checksum } = header;
    if (checksum !== sumHeader(this.#block))
      throw new BundleError('IntegrityTarChecksum', 'The checksum of a tar header is wrong');
    if (size === undefined)
      throw new BundleError('IntegrityTar', 'The size in a tar header is not a number');
    const name = this.#checkName(header);
    this.#checkSize(name, size);
    this.#seen.push(name);
    this.#member = name;
    this.#left = size;
    this.#padding = paddingAfter(size);
    this.#state = 'data';
    this.#handler.onMember(name, size, this.#block.slice());
    if (size === 0) this.#endData();
  }

  #checkName({ name: bytes, type, isNameClean }: TarHeader): MemberName {
    const name = decodeLatin1(bytes);
    const shown = `"${toPrintable(name)}"`;
    const [code, what] = REFUSED_TYPES[type] ?? ['SecurityMemberType', 'of an unknown type'];
    if (type !== '0' && type !== '\0')
      throw new BundleError(code, `The member ${shown} is ${what}`);
    if (bytes.length > this.#limits.pathBytes)
      throw new BundleError(
        'LimitPathLength',
        `A member has a name of more than ${this.#limits.pathBytes} bytes`,
      );
    if (!isNameClean)
      throw new BundleError(
        'SecurityMemberName',
        `Something follows the name ${shown} in its field`,
      );
    if (name.startsWith('/'))
      throw new BundleError('SecurityAbsolutePath', `The member ${shown} has an absolute path`);
    if (name.split('/').includes('..'))
      throw new BundleError(
        'SecurityPathTraversal',
        `The member ${shown} leads out of the archive`,
      );
    return this.#checkOrder(name, shown);
  }

  #checkOrder(name: string, shown: string): MemberName {
    if (name !== MANIFEST_NAME && name !== EVENTS_NAME)
      throw new BundleError('ContractUnexpectedFile', `The member ${shown} does not belong there`);
    if (this.#seen.includes(name))
      throw new BundleError('ContractDuplicateFile', `The member ${shown} is there twice`);
    if (this.#seen.length === 0 && name === EVENTS_NAME)
      throw new BundleError('ContractFileOrder', `${MANIFEST_NAME} is not the first member`);
    return name;
  }

  #checkSize(name: MemberName, size: number): void {
    const { manifestBytes, decodedBytes } = this.#limits;
    const limit = name === MANIFEST_NAME ? manifestBytes : decodedBytes;
    if (size > limit)
      throw new BundleError('LimitFileSize', `It has more than ${limit} bytes`, { member: name });
  }
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
