/** Numbers of WASI preview 1, as far as they are used here. */
export const ERRNO = {
  SUCCESS: 0,
  TOOBIG: 1,
  ACCES: 2,
  BADF: 8,
  EXIST: 20,
  FAULT: 21,
  ILSEQ: 25,
  INVAL: 28,
  ISDIR: 31,
  LOOP: 32,
  MFILE: 33,
  NAMETOOLONG: 37,
  NOENT: 44,
  NOSPC: 51,
  NOSYS: 52,
  NOTDIR: 54,
  NOTEMPTY: 55,
  NOTSOCK: 57,
  NOTSUP: 58,
  PERM: 63,
  ROFS: 69,
  SPIPE: 70,
} as const;

export type ErrnoName = keyof typeof ERRNO;

/** An expected refusal by the file tree; never leaves the cell as an exception. */
export class FileError extends Error {
  readonly errno: ErrnoName;

  constructor(errno: ErrnoName) {
    super(errno);
    this.errno = errno;
  }
}
