import {
  chownSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { AssayError } from '../../core/errors.ts';

/** Replaces a file as a whole, with its mode and owner; a link stays one, and what it leads to is replaced. */
export function replaceConfig(file: string, old: string, text: string): void {
  const target = realpathSync(file);
  const partial = `${target}.${process.pid}.assay`;
  try {
    const { mode, uid, gid } = statSync(target);
    const fd = openSync(partial, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      fchmodSync(fd, mode & 0o7777);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (process.getuid?.() === 0) chownSync(partial, uid, gid);
    // A client may have written to it while somebody was thinking.
    if (readFileSync(target, 'utf8') !== old) throw new Error('it was changed meanwhile');
    renameSync(partial, target);
  } catch (cause) {
    rmSync(partial, { force: true });
    throw new AssayError(
      'E_OUTPUT_NOT_WRITTEN',
      `Cannot change "${file}": ${(cause as Error).message}`,
      { hint: 'It is as it was', cause },
    );
  }
}
