import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync } from 'node:fs';

import { expect, it } from 'vitest';

import type { Evidence } from '../../src/evidence/evidence.ts';
import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { ASSAY, PYTHON, runAssay, runBare } from './run-assay.ts';

interface Case {
  readonly does: string;
  /** Files that are there before. */
  readonly before?: readonly string[];
  readonly script: string;
  /** Other names that the first file had before the run. */
  readonly otherNames?: readonly string[];
  readonly fifos?: readonly string[];
  readonly created?: readonly string[];
  readonly modified?: readonly string[];
  readonly removed?: readonly string[];
  readonly attributes?: readonly string[];
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

/** Writes a file by a mapping that it has read before, so that no fault tells of it. */
const MAPPED = `import mmap, os
os.chmod('g', 0o600)
with open('f', 'r+b') as file, mmap.mmap(file.fileno(), 0) as bytes:
    bytes[0:3] = bytes[0:3].swapcase()
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
    does: 'calls a file what the record calls one without a name',
    script: `cat > /tmp/nameless.py <<'END'\n${NAMELESS}END\nmkdir d e; python3 /tmp/nameless.py; echo > '#0 (deleted)'; cd d; python3 /tmp/nameless.py; mkdir '#0 (deleted)'; cd ../e; python3 /tmp/nameless.py; echo > x; mv x '#0 (deleted)'`,
    created: ['#0 (deleted)', 'd/', 'd/#0 (deleted)/', 'e/', 'e/#0 (deleted)'],
  },
  {
    does: 'opens files for writing, and changes nothing but their modes and names',
    before: ['f', 'g'],
    script: 'chmod 600 f; : >> f; : >> g; chmod 600 g; ln g h',
    created: ['h'],
    attributes: ['f', 'g'],
  },
  {
    does: 'changes the mode of a file by a descriptor, when the name that it had for that is gone',
    before: ['f', 'g'],
    script: `python3 -c 'import os
os.link("f", "h"); by = os.open("h", os.O_RDONLY); os.unlink("h"); os.fchmod(by, 0o600)
by = os.open("g", os.O_RDONLY); os.link("g", "h"); os.unlink("g"); os.fchmod(by, 0o600); os.rename("h", "g")'`,
    attributes: ['f', 'g'],
  },
  {
    does: 'writes a file, and sets its time back by another name that it has',
    before: ['f'],
    otherNames: ['g'],
    script: 'cp -p f /tmp/old; printf x 1<> f; touch -r /tmp/old g; chmod 600 f',
    modified: ['f', 'g'],
  },
  {
    does: 'renames a file to its own name, or to another one of it, and opens it',
    before: ['f', 'g'],
    script: `${rename('f', 'f')}; : >> f; ln g h; ${rename('g', 'h')}; : >> g`,
    created: ['h'],
  },
  {
    does: 'renames a file to its own name, and writes it',
    before: ['f'],
    script: `${rename('f', 'f')}; echo >> f`,
    modified: ['f'],
  },
  {
    does: 'writes to a FIFO that was there, and to another one before a file takes its place',
    fifos: ['p', 'q'],
    script: 'for n in p q; do echo <> $n >&0; done; rm q; echo > q; echo >> q',
    modified: ['q'],
  },
  {
    does: 'writes a file and puts its time back',
    before: ['f'],
    script: 'touch -r f /tmp/t; printf x | dd of=f conv=notrunc status=none; touch -r /tmp/t f',
    modified: ['f'],
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
    does: 'makes a file where one was made before its directory was moved',
    before: ['a/y', 'b/y'],
    script: `echo > b/c; mv a x; ${exchange('x', 'b')}; echo > b/c`,
    created: ['b/c', 'x/', 'x/c', 'x/y'],
    modified: ['b/y'],
    removed: ['a/', 'a/y'],
  },
  {
    does: 'writes to files of one name, whose directories stand in for each other',
    before: ['d/x', 'e/x'],
    script: 'echo >> d/x; mv d t; mv e d; echo >> d/x; mv d e; mv t d',
    modified: ['d/x', 'e/x'],
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
    does: 'writes to another file of one name, and then to the one that was there',
    before: ['f'],
    script: 'mv f g; echo > f; echo >> f; rm f; mv g f; echo >> f',
    modified: ['f'],
  },
  {
    does: 'writes to another file of one name, and puts back the one that was there',
    before: ['f', 'd/x'],
    script: 'for n in f d/x; do mv $n g; echo > $n; echo >> $n; rm $n; mv g $n; : >> $n; done',
  },
  {
    does: 'opens files of a directory that it has moved, and moves it back',
    before: ['d/x', 'd/y'],
    script: 'mv d e; : >> e/x; echo >> e/y; mv e d',
    modified: ['d/y'],
  },
  {
    does: 'writes a file that is away, puts its time back, and puts it back',
    before: ['f', 'g'],
    script:
      'mv f h; touch -r h /tmp/t; printf x | dd of=h conv=notrunc status=none; touch -r /tmp/t h; mv h f; mv g k; touch -h k; mv k g',
    modified: ['f'],
    attributes: ['g'],
  },
  {
    does: 'makes and removes a directory and a file of one name, in turns',
    script:
      'mkdir d; rmdir d; echo > d; rm d; mkdir d; echo > t; mv t e; rm e; mkdir e; rmdir e; echo > t; mv t e',
    created: ['d/', 'e'],
  },
  {
    does: 'makes a file without a name where a directory was moved to',
    before: ['d/x'],
    script: `mv d e; cat > /tmp/nameless.py <<'END'\n${NAMELESS}END\ncd e; python3 /tmp/nameless.py; cd ..; mv e d`,
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
    const { before = [], created = [], modified = [], removed = [], attributes } = one;
    for (const name of before) place.write(`work/${name}`, name);
    for (const name of one.otherNames ?? [])
      linkSync(place.at(`work/${before[0] ?? ''}`), place.at(`work/${name}`));
    for (const name of one.fifos ?? [])
      execFileSync('mkfifo', ['-m', '666', place.at(`work/${name}`)]);
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
      ...(attributes && { attributes: inside(attributes) }),
    });
  });

  // An ordinary user cannot have such a file system for itself.
  it.skipIf(person.uid !== 0)('are told where they leave no trace, as in memory', async () => {
    const place = makePlace();
    const profile = `${place.makeDir('out')}/p.json`;
    const flags = ['--preset', 'coding-agent', '--profile', profile, '--profile-format', 'json'];
    const prepare = 'mount -t tmpfs none "$PWD"; cd "$PWD"; echo old > f; echo old > g; exec "$@"';
    const command = ['unshare', '-m', '/bin/sh', '-ec', prepare, 'sh', ASSAY, 'sandbox', ...flags];
    const outcome = await runBare({ place, command: [...command, '--', PYTHON, '-c', MAPPED] });
    expect(outcome.code, outcome.stderr).toBe(0);
    const { changes, run } = JSON.parse(place.read('out/p.evidence.json')) as Evidence;
    expect(changes).toMatchObject({ modified: ['${CWD}/f'], attributes: ['${CWD}/g'] });
    expect(run.unverified_changes).toEqual([`${place.work}/f`]);
  });

  it('are told by the events alone, and said to be, where the run has shut the place', async () => {
    const place = makePlace();
    place.write('work/d/old', 'old');
    const profile = `${place.makeDir('out')}/p.json`;
    const flags = ['--preset', 'coding-agent', '--profile', profile, '--profile-format', 'json'];
    const script = 'mkdir n m; echo > n/x; echo > d/old; echo > m/y; mv m o; chmod 0 d n o';
    await runAssay({ place, flags, command: ['/bin/sh', '-ec', script] });
    const { changes, coverage } = JSON.parse(place.read('out/p.evidence.json')) as Evidence;
    const isRoot = person.uid === 0; // whom nothing is shut to
    expect(changes.created).toEqual(expect.arrayContaining(['${CWD}/n/', '${CWD}/n/x']));
    expect(changes).toMatchObject({ modified: ['${CWD}/d/old'], removed: [] });
    expect(coverage.changes.reasons).toEqual(
      isRoot ? [] : ['how 3 places ended could not be looked at'],
    );
    for (const name of ['d', 'n', 'o']) chmodSync(place.at(`work/${name}`), 0o700);
  });
});
