import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeViewHtml } from '../../../src/artifacts/view-html.ts';

const DIST = join(import.meta.dirname, '../../../dist');

/** Why the page cannot be tried here, if so. */
export function findObstacle(chromium: string | undefined): string | undefined {
  if (!existsSync(join(DIST, 'view-page.js')))
    return 'the page is not built (node scripts/build.mjs)';
  return chromium === undefined
    ? 'Chromium is not installed (scripts/install-test-tools.sh)'
    : undefined;
}

/** Pages in a directory of their own. */
export class PageFiles {
  readonly #directory = mkdtempSync(join(tmpdir(), 'assay-pages-'));
  #count = 0;

  /** The address of a page that carries the archive. */
  write(archive: Uint8Array): string {
    const parts = {
      script: readFileSync(join(DIST, 'view-page.js'), 'utf8'),
      style: readFileSync(join(DIST, 'view-page.css'), 'utf8'),
      archive,
    };
    this.#count += 1;
    const path = join(this.#directory, `page-${this.#count}.html`);
    writeFileSync(path, [...writeViewHtml(parts)].join(''));
    return pathToFileURL(path).href;
  }

  close(): void {
    rmSync(this.#directory, { recursive: true });
  }
}
