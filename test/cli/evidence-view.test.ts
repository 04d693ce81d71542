import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSampleBundle } from '../evidence/bundle/sample-run.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');
const place = mkdtempSync(join(tmpdir(), 'assay-view-test-'));
const bundle = join(place, 'run.bundle.tar.gz');
let archive: Buffer;

beforeAll(async () => {
  archive = await makeSampleBundle();
  writeFileSync(bundle, archive);
});
afterAll(() => rmSync(place, { recursive: true }));

interface ViewOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
}

function view(args: readonly string[], { env = {}, input }: ViewOptions = {}) {
  return spawnSync(ASSAY, ['evidence', 'view', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: place, TMPDIR: place, ...env },
    ...(input ? { input } : {}),
  });
}

describe('evidence view --html', () => {
  const html = join(place, 'page.html');

  it('writes one page with the bundle in it, for the user alone', () => {
    const { status, stdout, stderr } = view([bundle, '--html', html]);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    const text = readFileSync(html, 'utf8');
    expect(text).toContain(
      `<script type="application/gzip" id="bundle">${archive.toString('base64')}</script>`,
    );
    expect(statSync(html).mode & 0o777).toBe(0o600);
  });

  it('names nothing outside of the page, and allows nothing but its own script and style', () => {
    const text = readFileSync(html, 'utf8');
    expect(text).toMatch(
      /content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"/,
    );
    const markup = text.replace(/<script[\s\S]*?<\/script>|<style>[\s\S]*?<\/style>/g, '');
    expect(markup).not.toMatch(/\b(?:src|href)=(?!"#)/);
    expect(text).not.toMatch(/url\(|@import/);
  });

  it('writes the same page for the same bundle', () => {
    const first = readFileSync(html);
    view(['-', '--html', html], { input: archive });
    expect(readFileSync(html).equals(first)).toBe(true);
  });

  it('writes no page of a bundle that is not intact', () => {
    const bad = join(place, 'bad.bundle.tar.gz');
    const other = join(place, 'other.html');
    writeFileSync(bad, archive.subarray(0, -3));
    const { status, stderr } = view([bad, '--html', other]);
    expect(status).toBe(7);
    expect(stderr).toContain('IntegrityGzipTruncated');
    expect(existsSync(other)).toBe(false);
  });

  it('says what is too large for a page, and what to do instead', () => {
    const large = join(place, 'large.bundle.tar.gz');
    writeFileSync(large, archive);
    truncateSync(large, 64 * 1024 * 1024 + 1);
    const { status, stderr } = view([large, '--html', html]);
    expect(status).toBe(5);
    expect(stderr).toContain('is too large for a page: it has more than 64 MiB');
    expect(stderr).toContain('assay evidence show');
    rmSync(large);
  });

  it.each([
    ['a bundle that is not there', () => [join(place, 'none')], 'There is no such file'],
    [
      'a page where no page can be',
      () => [bundle, '--html', join(place, 'no/such/page.html')],
      'Cannot write the page',
    ],
  ])('explains %s', (_name, args, message) => {
    const { status, stderr } = view(args());
    expect(status).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });
});

describe('evidence view', () => {
  /** Where the page is, from what was printed. */
  const pageOf = (stdout: string): string => stdout.trim();

  it('says where the page is when there is nothing to open it with', () => {
    const { status, stdout, stderr } = view([bundle]);
    expect(status).toBe(0);
    expect(stderr).toContain(`Open file://${pageOf(stdout)} in a browser`);
    expect(statSync(dirname(pageOf(stdout))).mode & 0o777).toBe(0o700);
    expect(readFileSync(pageOf(stdout), 'utf8')).toContain('<!doctype html>');
  });

  it('opens it with the program that BROWSER names', () => {
    const browser = join(place, 'browser');
    writeFileSync(browser, `#!/bin/sh\nprintf '%s' "$1" > ${place}/opened\n`);
    chmodSync(browser, 0o755);
    const { status, stdout, stderr } = view([bundle], {
      env: { BROWSER: `/no/such:${browser} %s` },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(readFileSync(join(place, 'opened'), 'utf8')).toBe(`file://${pageOf(stdout)}`);
  });

  it('removes pages of more than a day ago, and nothing else', () => {
    const old = join(place, 'assay-view-oldone');
    const recent = join(place, 'assay-view-recent');
    for (const directory of [old, recent]) mkdirSync(directory);
    const twoDaysAgo = new Date(Date.now() - 2 * 24 * 3600 * 1000);
    utimesSync(old, twoDaysAgo, twoDaysAgo);
    view([bundle]);
    expect(readdirSync(place)).toContain('assay-view-recent');
    expect(readdirSync(place)).not.toContain('assay-view-oldone');
  });
});
