import { readFileSync, statSync } from 'node:fs';
import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { writeViewHtml } from '../../artifacts/view-html.ts';
import { AssayError } from '../../core/errors.ts';
import type { BundleManifest } from '../../evidence/bundle/bundle.ts';
import { distPath } from '../../launch/helper-path.ts';
import { openPage } from '../browser.ts';
import { nameBundle, scanBundle } from '../bundle-file.ts';
import type { ParsedCommand } from '../parse.ts';
import { makeViewFile } from '../view-file.ts';

/** A page holds the bundle as text, and whoever opens it holds all its events at once. */
const MAX_BYTES = 64 * 1024 * 1024;

/** `assay evidence view`: the bundle as one page that checks itself. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [bundle = '-'] = rest;
  const { archive, manifest } = await readArchive(bundle);
  const html = flags.text('html');
  const path = html ?? makeViewFile(manifest.run_id);
  writePage(path, archive);
  if (html === undefined) await openPage(path);
  return 0;
}

/** Read once, so that what was verified is what is embedded. */
async function readArchive(
  path: string,
): Promise<{ archive: Uint8Array; manifest: BundleManifest }> {
  if (sizeOf(path) > MAX_BYTES) throw refuseSize(path);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const { manifest } = await scanBundle(path, {
    onChunk: (chunk) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw refuseSize(path);
      chunks.push(chunk);
    },
  });
  return { archive: Buffer.concat(chunks), manifest };
}

/** As far as it is known before anything is read; what is wrong with the file, scanBundle() says. */
function sizeOf(path: string): number {
  try {
    return path === '-' ? 0 : statSync(path).size;
  } catch {
    return 0;
  }
}

function refuseSize(path: string): AssayError {
  return new AssayError(
    'E_EVIDENCE_LIMIT_EXCEEDED',
    `${nameBundle(path)} is too large for a page: it has more than ${MAX_BYTES / 1024 / 1024} MiB`,
    { hint: 'Look at it with assay evidence show, which has no such limit' },
  );
}

function writePage(path: string, archive: Uint8Array): void {
  const file = new AtomicFile(path, 'the page');
  try {
    file.write(
      writeViewHtml({
        script: readFileSync(distPath('view-page.js'), 'utf8'),
        style: readFileSync(distPath('view-page.css'), 'utf8'),
        archive,
      }),
    );
  } finally {
    file.close();
  }
}
