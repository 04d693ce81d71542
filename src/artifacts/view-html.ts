import { sha256Hex } from '../core/digest.ts';

export interface ViewParts {
  /** The program of the page and its looks, as they were built. */
  readonly script: string;
  readonly style: string;
  /** The bundle, byte for byte. */
  readonly archive: Uint8Array;
}

/**
 * The page as text, piece by piece. Nothing in it depends on what is in the bundle but the bundle itself, which is
 * letters, digits, `+` and `/`: whatever a program has named its files, it cannot be markup here.
 */
export function* writeViewHtml({ script, style, archive }: ViewParts): Iterable<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${makeContentPolicy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>assay: evidence of a run</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the verdict</a>
<header class="top">
<span class="brand">assay</span><span class="brand-note">evidence of a run</span>
<span id="badge" class="pill badge" role="status" data-tone="plain">Not verified yet</span>
<button type="button" id="theme" class="plain-button">Theme</button>
</header>
<div class="layout">
<nav class="contents" aria-label="Sections"><ol id="contents"></ol></nav>
<main id="content" tabindex="-1">
<div id="status" class="status"><p>Verifying the bundle in this page …</p><progress id="progress" max="1" value="0" aria-label="Verification"></progress></div>
<noscript><p class="alarm">Nothing is shown without scripts: this page checks the bundle that it carries by itself, and shows only what it has read from it. <code>assay evidence show</code> prints the same on a terminal.</p></noscript>
</main>
</div>
<script type="application/gzip" id="bundle">`;
  yield* encodeBase64(archive);
  yield `</script>
<script>${script}</script>
</body>
</html>
`;
}

/**
 * Nothing is loaded and nothing is sent; only this script and this style count, by their hashes. `frame-ancestors` would
 * be ignored in a page, so the script refuses to work inside of another page.
 */
function makeContentPolicy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${hashSource(script)}'`,
    `style-src 'sha256-${hashSource(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** As CSP names it. */
function hashSource(text: string): string {
  return Buffer.from(sha256Hex(text), 'hex').toString('base64');
}

/** A multiple of three, so that pieces can stand one after the other. */
const PIECE_BYTES = 3 * 65_536;

function* encodeBase64(bytes: Uint8Array): Iterable<string> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64');
  }
}
