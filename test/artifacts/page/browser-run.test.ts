import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import {
  type Chromium,
  findChromium,
  startChromium,
  type Tab,
} from '../../../scripts/chromium.mjs';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { type Place, usePlaces } from '../../e2e/place.ts';
import { runAssay } from '../../e2e/run-assay.ts';
import { makeUpstream } from '../../evidence/bundle/bad-bundles.ts';
import * as forge from '../../evidence/bundle/forge.ts';
import { findObstacle, PageFiles } from './page-file.ts';

const chromium = findChromium();
const obstacle = findObstacle(chromium);

const SESSION = `
mkdir made
for at in 1 2 3; do echo $at > made/file-$at; done
cat made/file-1 > /dev/null
echo evil > .git/hooks/post-checkout
exit 7
`;

describeForEachPerson('the page of a real run', (person) => {
  const makePlace = usePlaces(person);
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

  const text = async (selector: string): Promise<string> =>
    String(await tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`));

  const record = async (place: Place, ...flags: string[]): Promise<Buffer> => {
    const bundle = `${place.makeDir('out')}/run.bundle.tar.gz`;
    place.write('work/.git/hooks/sample');
    await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--bundle', bundle, ...flags],
      command: ['/bin/sh', '-c', SESSION],
    });
    return readFileSync(bundle);
  };

  it('tells what happened', async () => {
    await tab.open(files.write(await record(makePlace())));
    expect(await text('#badge')).toMatch(/^Verified here/);
    expect(await text('#verdict')).toMatch(
      /^The boundary held: \d+ attempts? (?:was|were) refused$/,
    );
    expect(await text('.hero-details')).toContain('The command ended with exit code 7.');
    expect(await text('#refusals')).toContain('post-checkout');
    expect(await text('#programs')).toContain('cat');
    expect(await text('#changes')).toContain('file-3');
    expect(await text('#policy')).toContain('fs.deny');
    expect(tab.complaints).toEqual([]);
  });

  it('says what was not watched, and claims no numbers there', async () => {
    await tab.open(files.write(await record(makePlace(), '--observe', 'effects')));
    expect(await text('.hero-details')).toContain('Not everything was watched: ');
    expect(await text('.figures')).toMatch(/≥ \d+files touched; not all was watched/);
  });

  it('says that a dry run blocked nothing', async () => {
    await tab.open(files.write(await record(makePlace(), '--dry-run')));
    expect(await text('#verdict')).toBe('A dry run: nothing was blocked');
    expect(await text('.control .pill')).toBe('not enforced');
  });

  it('shows the older format without a verdict, and that its identity is not bound', async () => {
    await tab.open(files.write(forge.pack(forge.reseal(makeUpstream()))));
    expect(await text('#verdict')).toBe('This bundle says nothing about a boundary');
    expect(await text('.facts')).toContain('older: identity not bound');
    expect(await tab.evaluate(`document.querySelector('.figures')`)).toBeNull();
  });
});
