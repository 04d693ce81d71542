import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = join(import.meta.dirname, '../../../src/artifacts/page');

const FILES = readdirSync(PAGE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(PAGE, path), 'utf8') }));

/** Ways in which text becomes markup or a program. */
const SINKS = [
  /\b(?:inner|outer)HTML\b/,
  /\binsertAdjacentHTML\b/,
  /\bsetHTML(?:Unsafe)?\b/,
  /\bdocument\.write/,
  /\bDOMParser\b/,
  /\bcreateContextualFragment\b/,
  /\bsrcdoc\b/,
  /\beval\b/,
  /\bnew Function\b/,
  /\bsetTimeout\(['"`]/,
  /\bsetAttributeNS\b/,
  /\bimport\(/,
  /['"`]on[a-z]+['"`]/,
];

/** Ways to reach somebody. */
const REACHING = [
  /\bfetch\b/,
  /\bXMLHttpRequest\b/,
  /\bWebSocket\b/,
  /\bEventSource\b/,
  /\bsendBeacon\b/,
  /\bwindow\.open\b/,
  /\blocation\b(?!')/,
  /\blocalStorage\b/,
  /\b(?:window|self|parent|top|opener)\.postMessage\b/,
];

/** The one place that makes elements, and the one link that is no part of the page. */
const MAKERS = new Map([
  [/\bcreateElement(?:NS)?\b/, ['elements.ts', 'verification.ts']],
  [
    /\.setAttribute\(/,
    ['elements.ts', 'event-list.ts', 'main.ts', 'treemap.ts', 'verification.ts', 'virtual-rows.ts'],
  ],
  [/\.href\b/, ['verification.ts']],
]);

describe('the sources of the page', () => {
  it('are found', () => {
    expect(FILES.length).toBeGreaterThan(20);
  });

  it.each([...SINKS, ...REACHING])('have no %s', (pattern) => {
    expect(FILES.filter(({ text }) => pattern.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it.each([...MAKERS])('have %s only where it is known', (pattern, known) => {
    expect(FILES.filter(({ text }) => pattern.test(text)).map(({ path }) => path)).toEqual(known);
  });

  it('set attributes by fixed names only, outside of the place that makes elements', () => {
    const wrong = FILES.filter(({ path }) => path !== 'elements.ts').flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/\.setAttribute\((?!'(?:aria-|data-tone'|tabindex'|value'|role'))/g),
        () => path,
      ),
    );
    expect(wrong).toEqual([]);
  });
});
