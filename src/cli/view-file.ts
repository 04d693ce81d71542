import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';

const PREFIX = 'assay-view-';
const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * A file for a page that is opened at once, in a directory that nobody else can enter. A browser may come back to it, so
 * it stays; pages of more than a day ago go.
 */
export function makeViewFile(runId: string): string {
  const base = tmpdir();
  try {
    removeOld(base);
    const directory = mkdtempSync(join(base, PREFIX));
    // The run id of a bundle of others may be anything.
    return join(directory, `${runId.replaceAll(/[^\w-]/g, '_').slice(0, 80) || 'run'}.html`);
  } catch (cause) {
    throw new AssayError(
      'E_TMP_FAILED',
      `Cannot make a private directory in "${base}": ${(cause as Error).message}`,
      { hint: 'Write the page to a file of your choice, with --html FILE', cause },
    );
  }
}

function removeOld(base: string): void {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(base, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isOwn = found?.isDirectory() === true && found.uid === process.getuid?.();
    if (isOwn && Date.now() - found.mtimeMs > KEPT_MS)
      rmSync(path, { recursive: true, force: true });
  }
}
