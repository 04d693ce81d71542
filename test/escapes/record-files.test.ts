import * as fs from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import type { Evidence } from '../../src/evidence/evidence.ts';
import { describeForEachPerson } from '../e2e/as-user.ts';
import { type Place, usePlaces } from '../e2e/place.ts';
import { dataOf, readBundle } from '../e2e/read-bundle.ts';
import { runBare } from '../e2e/run-assay.ts';
import { ASSAY } from './run.ts';

const STREAM = 'run.ndjson';
const BUNDLE = 'run.bundle.tar.gz';
const ARTIFACTS = [
  'run.profile.json',
  'run.profile.evidence.json',
  'run.profile.json.report.md',
  BUNDLE,
];

/** Runs a script in a workspace in which its own record is written. */
async function runBeside(place: Place, script: string) {
  const flags = ['--quiet', '--preset', 'coding-agent', '--profile-format', 'json'];
  const record = ['--profile', 'run.profile.json', '--bundle', BUNDLE, '--json', STREAM];
  const command = ['/bin/sh', '-c', script];
  const outcome = await runBare({
    place,
    command: [ASSAY, 'sandbox', ...flags, ...record, '--', ...command],
  });
  return outcome;
}

function readStream(place: Place): { type: string; op?: string; path?: string }[] {
  return place
    .read(`work/${STREAM}`)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; op?: string; path?: string });
}

/** What a program may try with the files in which it is recorded; `$f` is one of them. */
const TRICKS = [
  ['removes', 'rm -f "$f"'],
  ['renames', 'mv -f "$f" moved'],
  ['replaces', '(echo forged > new); mv -f new "$f"'],
  ['links to', 'ln "$f" second && (echo forged > second)'],
  ['cuts', '(: > "$f")'],
  ['appends to', '(echo forged >> "$f")'],
  ['puts a link in the place of', 'ln -sf /etc/hostname "$f"; ln -s /etc/hostname "$f"'],
  ['puts a directory in the place of', 'rm -f "$f"; mkdir "$f"; mkdir "$f/in"'],
  ['takes the rights from', 'chmod 000 "$f"; chmod 777 "$f"'],
] as const;

describeForEachPerson('a record in the workspace', (person) => {
  const openPlace = usePlaces(person);

  it.for(TRICKS)('is complete when the program %s its files', async ([, trick]) => {
    const place = openPlace();
    const script = `for f in ${STREAM} ${ARTIFACTS.join(' ')}; do ${trick}; done 2>/dev/null; mkdir after`;
    await runBeside(place, script);
    const lines = readStream(place);
    expect(lines.at(-1)?.type).toBe('summary');
    expect(lines.some(({ op, path }) => op === 'mkdir' && path === `${place.work}/after`)).toBe(
      true,
    );
    for (const name of ARTIFACTS) {
      const file = place.at(`work/${name}`);
      expect(fs.lstatSync(file).isFile(), name).toBe(true);
      expect(fs.readFileSync(file, 'utf8'), name).not.toContain('forged\n');
    }
    const evidence = JSON.parse(place.read('work/run.profile.evidence.json')) as Evidence;
    expect(evidence.changes.created).toContain('${CWD}/after/');
    const bundle = await readBundle(place.at(`work/${BUNDLE}`));
    expect(dataOf(bundle, 'change')).toContainEqual({ change: 'created', path: '${CWD}/after/' });
  });

  it('is complete when the program shuts the directory that it is written to', async () => {
    const place = openPlace();
    await runBeside(place, 'mkdir after; chmod 500 .');
    expect(fs.statSync(place.work).mode & 0o777).toBe(0o500);
    expect(readStream(place).at(-1)?.type).toBe('summary');
    for (const name of ARTIFACTS) expect(fs.existsSync(place.at(`work/${name}`)), name).toBe(true);
    const evidence = JSON.parse(place.read('work/run.profile.evidence.json')) as Evidence;
    expect(evidence.changes.created).toEqual(['${CWD}/after/']);
    fs.chmodSync(place.work, 0o700);
  });

  it('is written when the program removes the empty directory that it is written to', async () => {
    const place = openPlace();
    place.makeDir('work/a/out');
    const flags = ['--quiet', '--preset', 'coding-agent', '--profile-format', 'json'];
    const script = 'rmdir a/out; rmdir a; rm -rf a; mkdir after';
    const record = ['--profile', 'a/out/run.profile.json', '--', '/bin/sh', '-c', script];
    const outcome = await runBare({ place, command: [ASSAY, 'sandbox', ...flags, ...record] });
    expect(outcome.code, outcome.stderr).toBe(0);
    const evidence = JSON.parse(place.read('work/a/out/run.profile.evidence.json')) as Evidence;
    expect(evidence.changes).toMatchObject({ created: ['${CWD}/after/'], removed: [] });
    expect(evidence.refusals).not.toEqual([]);
  });

  it('is complete when the program moves the directory that it is written to', async () => {
    const place = openPlace();
    place.makeDir('work/out');
    const flags = ['--quiet', '--preset', 'coding-agent', '--profile-format', 'json'];
    const record = ['--profile', 'out/run.profile.json', '--json', `out/${STREAM}`];
    const script = 'mv out moved; mkdir out; ln -s /etc out2; mkdir after';
    const command = [ASSAY, 'sandbox', ...flags, ...record, '--', '/bin/sh', '-c', script];
    await runBare({ place, command });
    const found = ['out', 'moved'].filter((dir) =>
      fs.existsSync(join(place.work, dir, 'run.profile.evidence.json')),
    );
    expect(found).toHaveLength(1);
    expect(place.read(`work/${found[0]}/${STREAM}`)).toContain('/after"');
  });
});
