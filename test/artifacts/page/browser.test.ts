import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Chromium,
  findChromium,
  startChromium,
  type Tab,
} from '../../../scripts/chromium.mjs';
import { type MadeLine, makeRunBundle } from './made-run.ts';
import { findObstacle, PageFiles } from './page-file.ts';

const chromium = findChromium();
const obstacle = findObstacle(chromium);

const LINES: readonly MadeLine[] = [
  { op: 'run', path: '/usr/bin/make', program: 'assay', ms: 5 },
  { op: 'run', path: '/usr/bin/cc', program: '/usr/bin/make', ms: 400 },
  ...Array.from({ length: 40 }, (_, at) => ({
    op: 'read',
    path: `\${CWD}/src/part-${at % 4}/file-${at}.c`,
    program: '/usr/bin/cc',
    ms: 500 + at,
  })),
  ...Array.from({ length: 10 }, (_, at) => ({
    op: 'create',
    path: `\${CWD}/build/file-${at}.o`,
    program: '/usr/bin/cc',
    ms: 700 + at,
  })),
  {
    op: 'write',
    path: '${CWD}/.git/hooks/post-checkout',
    outcome: 'EACCES',
    refused_by: 'configuration protection, config: *.git/hooks',
    program: '/usr/bin/make',
    ms: 800,
  },
  { op: 'connect', path: 'tcp:192.0.2.1:443', outcome: 'EACCES', refused_by: '', ms: 850 },
];

let browser: Chromium;
let files: PageFiles;
let tab: Tab;

beforeAll(async () => {
  if (obstacle !== undefined) return;
  browser = await startChromium(chromium ?? '');
  files = new PageFiles();
});
afterAll(async () => {
  await browser?.close();
  files?.close();
});
beforeEach(async (context) => {
  if (obstacle !== undefined) context.skip(obstacle);
  tab = await browser.openTab();
  await tab.resize({ width: 1280, height: 900 });
});
afterEach(async () => {
  if (obstacle === undefined) await tab.close();
});

async function text(selector: string): Promise<string> {
  return String(
    await tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`),
  );
}

async function count(selector: string): Promise<number> {
  return Number(
    await tab.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`),
  );
}

/** What the list says of itself, such as 12 of 60. */
async function shownEvents(): Promise<number> {
  return Number(/^([\d,]+) of/.exec(await text('#search-count'))?.[1]?.replaceAll(',', ''));
}

async function click(selector: string): Promise<void> {
  await tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
}

describe('the page of a bundle', () => {
  let url = '';
  beforeAll(async () => {
    if (obstacle !== undefined) return;
    const archive = await makeRunBundle({
      lines: LINES,
      systemReads: ['/usr/lib/libc.so', '/usr/lib/libm.so'],
      changes: ['${CWD}/build/file-0.o'],
    });
    url = files.write(archive);
  });

  it('verifies itself and shows the verdict, with no request but for itself and no complaint', async () => {
    await tab.open(url);
    expect(await text('#verdict')).toBe('The boundary held: 2 attempts were refused');
    expect(await text('#badge')).toMatch(/^Verified here: \d+ checks; signer not checked$/);
    expect(await count('.checks li')).toBeGreaterThan(4);
    expect(await count('.control')).toBe(3);
    expect(await text('#refusals')).toContain('configuration protection, config: *.git/hooks');
    expect(await text('#coverage')).toContain('what a program computed is not recorded');
    expect(tab.requests).toEqual([url]);
    expect(tab.complaints).toEqual([]);
  });

  it('lets no other script, style, picture or connection in', async () => {
    await tab.open(url);
    const refused = await tab.evaluate(`(async () => {
      const seen = [];
      document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
      const script = document.createElement('script');
      try { script.text = 'window.pwned = 1'; } catch (error) { seen.push(error.name); }
      document.body.append(script);
      try { document.body.insertAdjacentHTML('beforeend', '<img src="http://192.0.2.1/x">'); } catch (error) { seen.push(error.name); }
      const image = new Image();
      image.src = 'http://192.0.2.1/y';
      const style = document.createElement('style');
      style.textContent = 'body { display: none }';
      document.head.append(style);
      await fetch('http://192.0.2.1/z').catch(() => seen.push('fetch'));
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { seen: [...new Set(seen)].sort(), pwned: window.pwned ?? null, shown: getComputedStyle(document.body).display };
    })()`);
    expect(refused).toEqual({
      seen: [
        'TypeError',
        'connect-src',
        'fetch',
        'img-src',
        'require-trusted-types-for',
        'style-src-elem',
      ],
      pwned: null,
      shown: 'block',
    });
  });

  it('narrows the list by kind, by outcome and by words', async () => {
    await tab.open(url);
    const all = await shownEvents();
    await tab.press('/');
    expect(await tab.evaluate('document.activeElement.id')).toBe('search');
    await tab.send('Input.insertText', { text: 'part-1 read' });
    expect(await shownEvents()).toBe(10);
    expect(await count('.grid-body .grid-row')).toBe(10);
    await click('.filters .plain-button');
    expect(await shownEvents()).toBe(all);
    await tab.evaluate(`(() => {
      const outcome = document.querySelector('#outcome');
      outcome.value = 'refused';
      outcome.dispatchEvent(new Event('change'));
    })()`);
    expect(await shownEvents()).toBe(2);
    await tab.evaluate(
      `[...document.querySelectorAll('#events .chip')].find((chip) => chip.textContent.startsWith('Network')).click()`,
    );
    expect(await shownEvents()).toBe(1);
    expect(await text('.grid-body')).toContain('tcp:192.0.2.1:443');
  });

  it('shows an event as it stands in the bundle, by keyboard', async () => {
    await tab.open(url);
    await tab.evaluate(`document.querySelector('[role=grid]').focus()`);
    for (const key of ['End', 'Home', 'ArrowDown', 'Enter']) await tab.press(key);
    const shown = JSON.parse(await text('.event-details pre')) as {
      assayseq: number;
      type: string;
    };
    expect(shown).toMatchObject({ assayseq: 1, type: 'assay.sandbox.policy' });
  });

  it('goes down and up the treemap by keyboard', async () => {
    await tab.open(url);
    await tab.evaluate(`document.querySelector('.treemap .cell').focus()`);
    const label = async (): Promise<string> =>
      String(await tab.evaluate(`document.activeElement.getAttribute('aria-label')`));
    expect(await label()).toBe('src/: 40 files (40 read)');
    await tab.press('ArrowRight');
    expect(await label()).toBe('build/: 10 files (10 created)');
    await tab.press('ArrowLeft');
    await tab.press('Enter');
    expect(await label()).toMatch(/^part-\d\/: 10 files \(10 read\)$/);
    expect(await text('.crumbs')).toContain('src/');
    await tab.press('Backspace');
    expect(await label()).toBe('src/: 40 files (40 read)');
    for (const key of ['Enter', 'Enter', 'Enter']) await tab.press(key);
    expect(await tab.evaluate('document.activeElement.id')).toBe('search');
    expect(await shownEvents()).toBe(1);
  });

  it('has a theme of its own and follows that of the system', async () => {
    const ground = (): Promise<unknown> =>
      tab.evaluate('getComputedStyle(document.body).backgroundColor');
    await tab.preferTheme('light');
    await tab.open(url);
    const light = await ground();
    await tab.preferTheme('dark');
    const dark = await ground();
    expect(dark).not.toBe(light);
    await click('#theme');
    expect(await ground()).toBe(light);
    await click('#theme');
    await tab.preferTheme('light');
    expect(await ground()).toBe(dark);
  });

  it('fits a phone, and paper', async () => {
    await tab.resize({ width: 360, height: 740, isMobile: true });
    await tab.open(url);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const pdf = await tab.printPdf();
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.length).toBeGreaterThan(20_000);
  });

  it('names every control for those who cannot see it', async () => {
    await tab.open(url);
    const { nodes } = (await tab.send('Accessibility.getFullAXTree')) as {
      nodes: { ignored: boolean; role?: { value: string }; name?: { value: string } }[];
    };
    const controls = nodes.filter(
      ({ ignored, role }) =>
        !ignored &&
        ['button', 'link', 'searchbox', 'combobox', 'grid', 'navigation', 'table'].includes(
          role?.value ?? '',
        ),
    );
    expect(controls.length).toBeGreaterThan(30);
    expect(controls.filter(({ name }) => !name?.value)).toEqual([]);
    expect(nodes.some(({ role }) => role?.value === 'main')).toBe(true);
  });

  it('can be walked through with the tab key, from the skip link on', async () => {
    await tab.open(url);
    const seen: string[] = [];
    for (let at = 0; at < 60; at += 1) {
      await tab.press('Tab');
      seen.push(
        String(
          await tab.evaluate(
            `(() => { const e = document.activeElement; return e.id || e.className.baseVal || e.className || e.tagName; })()`,
          ),
        ),
      );
    }
    expect(seen[0]).toBe('skip');
    expect(seen).toEqual(
      expect.arrayContaining(['theme', 'program', 'cell', 'search', 'outcome', 'grid']),
    );
  });

  it('says which code a changed bundle fails with, and calls everything unverified', async () => {
    const path = fileURLToPath(url);
    const html = readFileSync(path, 'utf8');
    const archive = Buffer.from(/id="bundle">([^<]*)</.exec(html)?.[1] ?? '', 'base64');
    archive[archive.length - 5] = (archive[archive.length - 5] ?? 0) ^ 1;
    await tab.open(files.write(archive));
    expect(await text('#failure-code')).toMatch(/^IntegrityGzip/);
    expect(await text('#verdict')).toBe('No verdict: this bundle is not intact');
    expect(await text('#badge')).toMatch(/^Not intact: IntegrityGzip/);
    expect(await count('.control')).toBe(0);
    const marks = `[...document.querySelectorAll('.unverified-mark')].filter((mark) => mark.offsetWidth > 0).length`;
    expect(await tab.evaluate(marks)).toBe(10);
    expect(tab.complaints).toEqual([]);
  });

  it('finds an event that was changed by somebody who packed the bundle again', async () => {
    const archive = await makeRunBundle({ lines: LINES });
    const inner = gunzipSync(archive).toString('latin1').replaceAll('file-7.c', 'file-8.c');
    const packed = Buffer.concat([
      archive.subarray(0, 10),
      gzipSync(Buffer.from(inner, 'latin1'), { level: 9 }).subarray(10),
    ]);
    await tab.open(files.write(packed));
    expect(await text('#failure-code')).toBe('IntegrityEventHash');
    expect(await text('.alarm')).toContain('events.ndjson, line ');
    expect(await shownEvents()).toBeGreaterThan(10);
  });

  it('shows nothing of what is no bundle at all', async () => {
    await tab.open(files.write(Buffer.from('no archive')));
    expect(await text('#failure-code')).toBe('IntegrityGzip');
    expect(await text('#search-count')).toBe('0 of 0 events');
  });
});
