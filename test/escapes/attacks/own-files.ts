import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

import type { Attack } from '../attack.ts';
import { giveTo, type Fixture } from '../fixture.ts';
import { isGone, plants, pwned } from '../marks.ts';
import { ASSAY } from '../run.ts';

interface Row extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

const INSTALLED = 'node_modules/assay';
const HELPER = `work/${INSTALLED}/dist/assay-helper`;

function install(fixture: Fixture): void {
  const from = join(dirname(fs.realpathSync(ASSAY)), '..');
  fixture.makeDirectory(`work/${INSTALLED}`);
  for (const part of ['bin', 'dist']) {
    const to = fixture.at(`work/${INSTALLED}/${part}`);
    fs.cpSync(join(from, part), to, { recursive: true });
    giveTo(to, fixture.attacker);
  }
}

/** assay lies in the workspace, where the program may write, and runs outside: now, at the end of the run, and next time. */
function own(row: Row): Attack {
  return {
    class: 'steering',
    control: ['broker', 'mount'],
    flags: () => ['--preset', 'coding-agent'],
    prepare: install,
    assay: (fixture) => fixture.at(`work/${INSTALLED}/bin/assay.js`),
    isSuccess: plants(`work/${INSTALLED}/bin/assay.js`),
    ...row,
  };
}

/** Any of the parts that are loaded when they are asked for holds the token, or has run. */
const changesChunk: Attack['isSuccess'] = (_result, fixture) => {
  const chunks = fixture.at(`work/${INSTALLED}/dist/chunks`);
  const texts = fs.readdirSync(chunks).map((name) => fs.readFileSync(join(chunks, name), 'latin1'));
  return fs.existsSync(fixture.at('pwned')) || texts.some((text) => text.includes(fixture.token));
};

const EVIL_HELPER = `printf '#!/bin/sh\\n: > %s/pwned\\n# %s\\n' "$1" "$2" > h; chmod +x h`;
/** Makes the private tmp so deep that its removal is not the simple one. */
const DEEP_TMP = `perl -e 'chdir($ENV{TMPDIR} || "sub"); for (1..60) { mkdir "d" x 100; chdir "d" x 100 }'`;

export const OWN_FILE_ATTACKS: readonly Attack[] = [
  own({
    id: 'own-helper-replace',
    title: "rename another file over assay's helper",
    script: `${EVIL_HELPER}; mv -f h ${INSTALLED}/dist/assay-helper; ${DEEP_TMP}`,
    isSuccess: async (result, fixture) =>
      (await plants(HELPER)(result, fixture)) || (await pwned(result, fixture)),
  }),
  own({
    id: 'own-helper-write',
    title: "write into a copy of assay's helper that takes its place",
    script: `cd ${INSTALLED}/dist; cp assay-helper h; echo "$2" >> h; rm -f assay-helper; mv h assay-helper`,
    isSuccess: plants(HELPER),
  }),
  own({
    id: 'own-chunk',
    title: 'change the parts of assay that are loaded late',
    script: `for f in ${INSTALLED}/dist/chunks/*; do printf 'require("fs").writeFileSync("%s/pwned", "");//%s\\n' "$1" "$2" > "$f"; done; ${DEEP_TMP}`,
    isSuccess: changesChunk,
  }),
  own({
    id: 'own-cache',
    title: "change assay's compiled code",
    script: `echo "$2" >> ${INSTALLED}/dist/assay.cjs; echo "//$2" >> ${INSTALLED}/dist/code-${process.version}/assay.cjs`,
    isSuccess: async (result, fixture) =>
      (await plants(`work/${INSTALLED}/dist/assay.cjs`)(result, fixture)) ||
      (await plants(`work/${INSTALLED}/dist/code-${process.version}/assay.cjs`)(result, fixture)),
  }),
  own({
    id: 'own-dist-rename',
    title: "rename assay's dist away",
    script: `mv ${INSTALLED}/dist ${INSTALLED}/d2`,
    isSuccess: isGone(`work/${INSTALLED}/dist`),
  }),
  own({
    id: 'own-dist-new-file',
    title: "add a file to assay's dist",
    script: `echo "$2" > ${INSTALLED}/dist/new.cjs`,
    isSuccess: plants(`work/${INSTALLED}/dist/new.cjs`),
  }),
  own({
    id: 'own-bin',
    title: 'edit bin/assay.js',
    script: `echo "//$2" >> ${INSTALLED}/bin/assay.js`,
  }),
  own({
    id: 'own-parent-rename',
    title: 'rename the directory around assay and put a copy in its place',
    script: `mv ${INSTALLED} x; cp -r x ${INSTALLED}; echo "//$2" >> ${INSTALLED}/bin/assay.js`,
  }),
  own({
    id: 'own-bin-hard-link',
    title: 'hard-link bin/assay.js and write the link',
    script: `ln ${INSTALLED}/bin/assay.js x; echo "//$2" >> x`,
  }),
];
