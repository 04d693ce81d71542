import { expect, it } from 'vitest';

import type { Evidence } from '../../src/evidence/evidence.ts';
import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { runAssay } from './run-assay.ts';

interface Case {
  readonly does: string;
  /** Files that are there before. */
  readonly before?: readonly string[];
  readonly script: string;
  readonly created?: readonly string[];
  readonly modified?: readonly string[];
  readonly removed?: readonly string[];
}

const rename = (from: string, to: string, flags = 0): string =>
  `python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).renameat2(-100, b"${from}", -100, b"${to}", ${flags}))'`;
const exchange = (one: string, other: string): string => rename(one, other, 2);

/** A file without a name, memory and a pipe; the first gets one in the end. */
const NAMELESS = `import os
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(fd, b'x')
os.fchmod(fd, 0o640)
os.close(os.open(f'/proc/self/fd/{fd}', os.O_RDWR))
os.fchmod(os.memfd_create('m'), 0o600)
os.fchmod(os.pipe()[0], 0o600)
gone = os.open('gone', os.O_CREAT | os.O_RDWR)
os.unlink('gone')
os.fchmod(gone, 0o600)
`;

const CASES: readonly Case[] = [
  {
    does: 'holds what has no name',
    script: `cat > /tmp/nameless.py <<'END'\n${NAMELESS}END\npython3 /tmp/nameless.py`,
  },
  {
    does: 'gives a name to what had none',
    script: `cat > /tmp/nameless.py <<'END'\n${NAMELESS}os.link(f'/proc/self/fd/{fd}', 'named', src_dir_fd=0)\nEND\npython3 /tmp/nameless.py`,
    created: ['named'],
  },
  {
    does: 'gives a name to what had none, and then changes it',
    script: `cat > /tmp/nameless.py <<'END'\n${NAMELESS}os.link(f'/proc/self/fd/{fd}', 'named', src_dir_fd=0)\nos.fchmod(fd, 0o644)\nEND\npython3 /tmp/nameless.py`,
    created: ['named'],
  },
  {
    does: 'moves a file and leaves a whiteout',
    before: ['d/x'],
    script: `${rename('d/x', 'd/y', 4)}; ${rename('d/y', 'd/y', 4)}`,
    created: ['d/y'],
    modified: ['d/x'],
  },
  {
    does: 'puts a link in the place of a directory of its own',
    before: ['e/x'],
    script: 'mkdir k; echo > k/x; rm k/x; rmdir k; ln -s e k; echo >> e/x',
    created: ['k'],
    modified: ['e/x'],
  },
  {
    does: 'puts a link to another directory in the place of one that was there',
    before: ['d/x', 'd/y', 'e/x'],
    script: 'echo >> d/x; rm d/x d/y; rmdir d; ln -s e d',
    modified: ['d'],
    removed: ['d/x', 'd/y'],
  },
  {
    does: 'puts a link in the place of a directory that it has moved',
    before: ['d/x'],
    script: 'echo > d/n; mv d e; ln -s e d',
    created: ['e/', 'e/n', 'e/x'],
    modified: ['d'],
    removed: ['d/x'],
  },
  {
    does: 'moves a directory away and a link to its place',
    before: ['d/x', 'e/y'],
    script: 'mkdir k; mv k m; rmdir m; ln -s e k; mv k m',
    created: ['m'],
  },
  {
    does: 'puts a file into place twice and removes it',
    script: 'echo 1 > l; mv l m; echo 2 > l; mv l m; rm m',
  },
  {
    does: 'puts a file into place twice, removes it and makes it anew',
    script: 'echo 1 > l; mv l m; echo 2 > l; mv l m; rm m; echo 3 > m',
    created: ['m'],
  },
  {
    does: 'exchanges two directories and goes on in both',
    before: ['d/x', 'e/z'],
    script: `${exchange('d', 'e')}; echo n > d/n; echo m > e/m; rm d/z`,
    created: ['d/n', 'e/m', 'e/x'],
    removed: ['d/x', 'e/z'],
  },
  {
    does: 'exchanges two directories of its own',
    script: `mkdir d e; echo x > d/x; echo z > e/z; ${exchange('d', 'e')}`,
    created: ['d/', 'd/z', 'e/', 'e/x'],
  },
  {
    does: 'exchanges a file with a directory',
    before: ['d/x', 'f'],
    script: exchange('f', 'd'),
    created: ['f/x'],
    modified: ['d', 'f/'],
    removed: ['d/x'],
  },
  {
    does: 'exchanges a file with a directory twice',
    before: ['d/x', 'f'],
    script: `${exchange('f', 'd')}; ${exchange('f', 'd')}`,
  },
  {
    does: 'exchanges two files twice',
    before: ['f', 'g'],
    script: `${exchange('f', 'g')}; ${exchange('f', 'g')}`,
  },
  {
    does: 'moves a directory of its own there and back again',
    script: 'mkdir d; echo 1 > d/1; mv d e; mv e d; mv d e; echo q > e/q; mv e d; echo r > d/r',
    created: ['d/', 'd/1', 'd/q', 'd/r'],
  },
  {
    does: 'moves a directory there and back again',
    before: ['d/1'],
    script: 'mv d e; mv e d; mv d e; mv e d; mv d e; echo q > e/q',
    created: ['e/', 'e/1', 'e/q'],
    removed: ['d/', 'd/1'],
  },
  {
    does: 'renames a file to another name of the same one',
    before: ['e'],
    script: `ln e a; ${rename('e', 'a')}`,
    created: ['a'],
  },
];

describeForEachPerson('the changes of a run', (person) => {
  const makePlace = usePlaces(person);

  it.for(CASES)('are right when it $does', async (one) => {
    const place = makePlace();
    const { before = [], created = [], modified = [], removed = [] } = one;
    for (const name of before) place.write(`work/${name}`, name);
    const profile = `${place.makeDir('out')}/p.json`;
    const outcome = await runAssay({
      place,
      flags: ['--preset', 'coding-agent', '--profile', profile, '--profile-format', 'json'],
      command: ['/bin/sh', '-ec', one.script],
    });
    expect(outcome.code, outcome.stderr).toBe(0);
    const { changes } = JSON.parse(place.read('out/p.evidence.json')) as Evidence;
    const inside = (names: readonly string[]): string[] => names.map((name) => `\${CWD}/${name}`);
    expect(changes).toMatchObject({
      created: inside(created),
      modified: inside(modified),
      removed: inside(removed),
    });
  });
});
