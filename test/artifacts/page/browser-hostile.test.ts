import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Chromium,
  findChromium,
  startChromium,
  type Tab,
} from '../../../scripts/chromium.mjs';
import type { Controls } from '../../../src/evidence/evidence.ts';
import { makeRunBundle } from './made-run.ts';
import { findObstacle, PageFiles } from './page-file.ts';

const chromium = findChromium();
const obstacle = findObstacle(chromium);

/** Names that a program could choose, each of which would set `pwned` if it were more than a name. */
const NAMES = [
  '</script><script>window.pwned = 1</script>',
  '<script>window.pwned = 1</script>',
  '"><img src=x onerror="window.pwned = 1">',
  "'><svg onload='window.pwned = 1'>",
  '<iframe srcdoc="<script>parent.pwned = 1</script>">',
  '<style>body { display: none }</style>',
  '<base href="http://192.0.2.1/">',
  '<meta http-equiv="refresh" content="0;url=http://192.0.2.1/">',
  '<form action="http://192.0.2.1/"><button>x</button></form>',
  'javascript:window.pwned=1',
  'data:text/html,<script>opener.pwned=1</script>',
  '${window.pwned = 1}',
  '{{constructor.constructor("window.pwned = 1")()}}',
  '<!-- --!><!--',
  ']]><script>window.pwned = 1</script>',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'nul\u0000byte',
  'evil\u202Etxt.exe',
  'zero\u200Bwidth\uFEFF\u00AD',
  'isolate\u2066\u2069 tag\u{E0041}',
  'line\nbreak\r\ttab\u2028\u2029',
  '\u001b[31mred\u0007',
  'non\u00A0breaking\u3000space',
  'combining' + '\u0301'.repeat(400),
  'שלום',
  'a'.repeat(10_240),
  `${'deep/'.repeat(2000)}x`,
  '..',
  ' ',
  '#events',
  '%00%2e%2e',
];

const EVIL = '<img src=x onerror="window.pwned = 1">\u202E';

/** What the page is made of; anything else came from a name. */
const TAGS = new Set(
  (
    'HTML HEAD META TITLE STYLE BODY A HEADER SPAN BUTTON DIV NAV OL LI MAIN SCRIPT NOSCRIPT H1 H2 H3 P CODE BDI DL DT DD ' +
    'ARTICLE UL STRONG B SECTION TABLE THEAD TBODY TR TH TD DETAILS SUMMARY PRE INPUT SELECT OPTION LABEL ' +
    'svg path g rect text title line circle'
  ).split(' '),
);

describe('a bundle with hostile names', () => {
  let browser: Chromium;
  let files: PageFiles;
  let tab: Tab;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    browser = await startChromium(chromium ?? '');
    files = new PageFiles();
    tab = await browser.openTab();
    await tab.resize({ width: 1280, height: 900 });
    const control: Controls['egress'] = {
      verdict: EVIL as 'held',
      reasons: [EVIL],
      used: [EVIL, ...NAMES],
      refused: 1,
      coverage: EVIL,
    };
    const archive = await makeRunBundle({
      command: ['sh', '-c', ...NAMES],
      environment: NAMES,
      policyName: EVIL,
      controls: { egress: control, writes: control, configuration: control },
      changes: NAMES.map((name) => `\${CWD}/${name}`),
      systemReads: NAMES.map((name) => `/usr/lib/${name}`),
      lines: NAMES.flatMap((name, at) => [
        {
          op: 'run',
          path: `/opt/${name}`,
          program: at === 0 ? 'assay' : (NAMES[at - 1] ?? ''),
          target: name,
        },
        { op: 'run', path: name, program: name },
        { op: 'read', path: name, program: name },
        { op: 'create', path: `\${CWD}/${name}`, program: `/opt/${name}` },
        { op: 'rename', path: `\${CWD}/from/${name}`, target: name },
        { op: 'write', path: `/etc/${name}`, outcome: 'EACCES', refused_by: name, program: name },
        { op: 'connect', path: `unix:${name}`, outcome: 'EACCES', refused_by: '', program: name },
      ]),
    });
    await tab.send('Page.addScriptToEvaluateOnNewDocument', {
      source: 'window.keys = Object.getOwnPropertyNames(Object.prototype).length;',
    });
    await tab.open(files.write(archive));
  });
  afterAll(async () => {
    await browser?.close();
    files?.close();
  });

  /** What is seen only after it was asked for. */
  async function useEverything(): Promise<void> {
    await tab.evaluate(`(async () => {
      const click = (selector) => document.querySelectorAll(selector).forEach((element) => element.click());
      document.querySelectorAll('details').forEach((element) => { element.open = true; });
      click('.more'); click('.expand'); click('.legend .chip');
      click('.legend .chip'); click('#events .chip');
      click('#events .chip');
      document.querySelectorAll('.program').forEach((element) => element.click());
      for (let at = 0; at < 12; at += 1) {
        document.querySelector('.treemap .cell')?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        click('.grid-body .grid-row');
      }
      click('.filters .plain-button');
      const scroller = document.querySelector('.grid-scroller');
      for (let top = 0; top < scroller.scrollHeight; top += 400) {
        scroller.scrollTop = top;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        document.querySelector('.grid-body .grid-row').click();
      }
      window.dispatchEvent(new Event('beforeprint'));
    })()`);
  }

  it('is intact, and runs nothing whatever is done with the page', async (context) => {
    if (obstacle !== undefined) context.skip(obstacle);
    expect(await tab.evaluate(`document.querySelector('#badge').dataset.tone`)).toBe('good');
    await useEverything();
    expect(await tab.evaluate('window.pwned ?? null')).toBeNull();
    expect(tab.complaints).toEqual([]);
    expect(tab.requests).toHaveLength(1);
  });

  it('makes no element, no handler and no link that is not of the page', async (context) => {
    if (obstacle !== undefined) context.skip(obstacle);
    const found = (await tab.evaluate(`(() => {
      const all = [...document.querySelectorAll('*')];
      return {
        tags: [...new Set(all.map(({ tagName }) => tagName))],
        handlers: all.flatMap((e) => e.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'src' || name === 'style' && false),
        links: all.map((e) => e.getAttribute('href')).filter((href) => href !== null && !/^#[a-z]+$/.test(href)),
        scripts: document.scripts.length,
        styles: document.querySelectorAll('style').length,
        keys: Object.getOwnPropertyNames(Object.prototype).length - window.keys,
      };
    })()`)) as { tags: string[]; handlers: string[]; links: string[] };
    expect(found.tags.filter((tag) => !TAGS.has(tag))).toEqual([]);
    expect(found).toMatchObject({ handlers: [], links: [], scripts: 2, styles: 1, keys: 0 });
  });

  it('spells out what cannot be seen, and shows names as they are', async (context) => {
    if (obstacle !== undefined) context.skip(obstacle);
    const body = String(await tab.evaluate(`document.querySelector('main').textContent`));
    expect(body).toContain('evil⟨U+202E⟩txt.exe');
    expect(body).toContain('zero⟨U+200B⟩width⟨U+FEFF⟩⟨U+00AD⟩');
    expect(body).toContain('nul⟨U+0000⟩byte');
    expect(body).toContain('⟨U+001B⟩[31mred⟨U+0007⟩');
    expect(body).toContain('tag⟨U+E0041⟩');
    expect(body).toContain('"><img src=x onerror="window.pwned = 1">');
    expect(body).toContain('__proto__');
    expect(body).not.toMatch(/[\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u);
    const labels = String(
      await tab.evaluate(
        `[...document.querySelectorAll('*')].flatMap((e) => [e.getAttribute('aria-label'), e.getAttribute('title')]).join(' ')`,
      ),
    );
    expect(labels).not.toMatch(/[\p{Cc}\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u);
  });

  it('is no wider than a phone', async (context) => {
    if (obstacle !== undefined) context.skip(obstacle);
    await tab.resize({ width: 360, height: 740, isMobile: true });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });
});

describe('a bundle of 100,000 events', () => {
  it('opens, scrolls and searches in bounded time', async (context) => {
    if (obstacle !== undefined) context.skip(obstacle);
    const lines = Array.from({ length: 100_000 }, (_, at) => ({
      op: at % 7 === 0 ? 'create' : 'read',
      path: `\${CWD}/packages/package-${at % 211}/src/part-${at % 13}/module-${at}.ts`,
      program: '/usr/bin/node',
      ms: at,
    }));
    const files = new PageFiles();
    const browser = await startChromium(chromium ?? '');
    try {
      const url = files.write(await makeRunBundle({ lines }));
      const tab = await browser.openTab();
      await tab.resize({ width: 1280, height: 900 });
      const startMs = Date.now();
      await tab.open(url, { timeoutMs: 150_000 });
      const openMs = Date.now() - startMs;
      const times = (await tab.evaluate(`(() => {
        const timed = (act) => { const start = performance.now(); act(); document.body.offsetHeight; return Math.round(performance.now() - start); };
        const search = document.querySelector('#search');
        const scroller = document.querySelector('.grid-scroller');
        return {
          searchMs: timed(() => { search.value = 'module-99999'; search.dispatchEvent(new Event('input')); }),
          found: document.querySelector('#search-count').textContent,
          clearMs: timed(() => { search.value = ''; search.dispatchEvent(new Event('input')); }),
          scrollMs: timed(() => { scroller.scrollTop = 2_000_000; scroller.dispatchEvent(new Event('scroll')); }),
          rows: document.querySelectorAll('.grid-body .grid-row').length,
          elements: document.querySelectorAll('*').length,
          checked: [...document.querySelectorAll('#verification .note')].map((note) => note.textContent).find((text) => text.startsWith('Checked')),
        };
      })()`)) as {
        searchMs: number;
        scrollMs: number;
        rows: number;
        elements: number;
        found: string;
      };
      console.log(`100,000 events: open ${openMs} ms, ${JSON.stringify(times)}`);
      expect(times.found).toMatch(/^1 of 100,/);
      expect(times.rows).toBeLessThan(100);
      expect(times.elements).toBeLessThan(20_000);
      expect(openMs).toBeLessThan(150_000);
      expect(times.searchMs).toBeLessThan(20_000);
      expect(times.scrollMs).toBeLessThan(20_000);
    } finally {
      await browser.close();
      files.close();
    }
  }, 300_000);
});
