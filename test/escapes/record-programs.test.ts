import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { type Place, usePlaces } from '../e2e/place.ts';
import { findAttack, findStill } from './program.ts';
import {
  eventsOf,
  furnish,
  type Line,
  linesOf,
  programLines,
  type Recorded,
  runRecorded,
} from './recorded.ts';

/** Programs that say who they are, scripts, and files that cannot be executed. */
function furnishPrograms(place: Place): void {
  furnish(place);
  const bytes = readFileSync(findAttack());
  for (const name of ['a', 'b', 'c', 'd'])
    place.write(`work/p/${name}`, Buffer.concat([bytes, Buffer.from(`tag-${name}...`)]), 0o755);
  for (const name of ['s', 't', 'u'])
    place.write(`work/p/${name}`, `#!/bin/sh\necho "ran script ${name}"\n`, 0o755);
  place.write('work/p/chain', `#!${place.work}/p/s\n`, 0o755);
  // The kernel looks for these in the working directory of the caller.
  place.write('work/p/relative', '#!./p/s\n', 0o755);
  place.write('work/p/bare', '#!p/a record-say\n', 0o755);
  place.write('work/p/text', 'some text\n', 0o755);
  place.write('work/p/unexecutable', 'some text\n');
  place.write('work/p/orphan', '#!/nonexistent/interpreter\n', 0o755);
}

/** In memory, what is written by a mapping that was read before does not show in the times of a file. */
const CHANGED = `import hashlib, mmap, shutil, subprocess, time
program = '/dev/shm/program'
def run():
    subprocess.run([program], check=True)
    with open(program, 'rb') as file: print('ran', hashlib.sha256(file.read()).hexdigest(), flush=True)
shutil.copy('/bin/true', program)
with open(program, 'ab') as file: file.write(b'tag')
time.sleep(0.2) # so long that its digest would be kept
run()
with open(program, 'r+b') as file, mmap.mmap(file.fileno(), 0) as bytes: bytes[-3:] = bytes[-3:].swapcase()
run()
`;

const SHELL = '/usr/bin/dash';

function describeProgram({ image, script = '', parent }: Line): string {
  return `${image} ${script} < ${parent?.image ?? 'assay'}`;
}

function listPrograms(recorded: Recorded): string[] {
  return programLines(recorded).map(describeProgram).sort();
}

/** How often images were started, those of the workspace by their name in it. */
function listStarts({ evidence }: Recorded): Record<string, number> {
  const starts = Object.entries(evidence.run.starts);
  return Object.fromEntries(starts.map(([image, count]) => [image.replace('${CWD}/', ''), count]));
}

function count(texts: readonly string[], part: string): number {
  return texts.filter((text) => text.includes(part)).length;
}

describeForEachPerson('programs', (person) => {
  const openPlace = usePlaces(person);

  it('are the images that ran, not what was asked for', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-string', option: 150 });
    const ran = linesOf(recorded.outcome.stdout, 'ran');
    const by = `${place.work}/attack`;
    expect(ran).toHaveLength(150);
    expect(listPrograms(recorded)).toEqual([
      `${by}  < assay`,
      `${place.work}/p/a  < ${by}`,
      `${place.work}/p/b  < ${by}`,
    ]);
    expect(listStarts(recorded)).toEqual({
      attack: 1,
      'p/a': count(ran, '/p/a '),
      'p/b': count(ran, '/p/b '),
    });
  });

  it('are refused, and recorded so, where none may run', async () => {
    const place = openPlace();
    furnish(place);
    const tool = place.write('data/tool', readFileSync(findAttack()), 0o755);
    const recorded = await runRecorded({
      place,
      command: ['/bin/sh', '-c', `${tool}; true`],
      flags: ['--allow-read', place.at('data')],
    });
    expect(recorded.evidence.refusals).toMatchObject([{ op: 'exec', outcome: 'EACCES' }]);
  });

  it('are seen where another was asked for, which may not run', async () => {
    const place = openPlace();
    furnishPrograms(place);
    place.write('data/still', readFileSync(findStill()), 0o755);
    // Without mounts it is left to the kernel to refuse a program.
    const flags = ['--allow-read', place.at('data'), '--layers=-mount'];
    const recorded = await runRecorded({ place, id: 'record-exec-refused', option: 200, flags });
    const [by, still] = [`${place.work}/attack`, `${place.work}/still`];
    expect(listPrograms(recorded)).toEqual([`${by}  < assay`, `${still}  < ${by}`]);
    const made = eventsOf(recorded, 'mkdir').filter(({ path }) => path?.includes('/made-'));
    expect(listStarts(recorded)).toEqual({ attack: 1, still: made.length });
    for (const { program } of made) expect(program?.image).toBe(still);
  });

  it.for([
    ['the path of a script', 'record-exec-script'],
    ['a link to a script', 'record-exec-link'],
  ] as const)('are no interpreters of what they did not run: %s', async ([, id]) => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id, option: 150 });
    const ran = linesOf(recorded.outcome.stdout, 'ran');
    for (const { image, script } of programLines(recorded))
      if (script !== undefined) {
        expect(image).toBe(SHELL);
        expect(ran).toContain(`script ${script.replace(`${place.work}/p/`, '')}`);
      }
    const isProgram = count(ran, '/p/a ');
    expect(isProgram).toBeGreaterThan(0);
    expect(listStarts(recorded)).toEqual({
      attack: 1,
      'p/a': isProgram,
      [SHELL]: 150 - isProgram,
    });
    // A shell may find the program in the place of its script, and takes its bytes for commands.
    const own = eventsOf(recorded, 'exec').filter(({ program }) => program?.image !== SHELL);
    for (const { path, outcome } of own)
      expect([path, outcome]).toEqual([expect.stringMatching(/(?:\/p\/[astu]|\/dash)$/), 'ok']);
  });

  it('are interpreters of the script that ran, where two threads have each executed one', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-threads', option: 150 });
    const ran = new Set(linesOf(recorded.outcome.stdout, 'ran'));
    const shells = programLines(recorded).filter(({ image }) => image === SHELL);
    expect(new Set(shells.map(({ script }) => script))).toEqual(
      new Set([...ran].map((name) => name.replace('script ', `${place.work}/p/`))),
    );
  });

  it('have the digest of what ran, whatever has taken its place', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-replaced', option: 40 });
    const digestOf = (name: string): string =>
      createHash('sha256')
        .update(readFileSync(place.at(`work/p/${name}`)))
        .digest('hex');
    const ran = linesOf(recorded.outcome.stdout, 'ran');
    const wanted = ['a', 'b'].filter((name) => count(ran, `tag-${name}`) > 0).map(digestOf);
    const started = programLines(recorded).filter(({ parent }) => parent?.image !== undefined);
    expect(new Set(started.map(({ digest }) => digest))).toEqual(new Set(wanted));
  });

  it('have the digest of what ran, where it was changed without a trace', async () => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, command: ['/usr/bin/python3', '-c', CHANGED] });
    const ran = linesOf(recorded.outcome.stdout, 'ran');
    expect(new Set(ran).size).toBe(2);
    const digests = programLines(recorded).filter(({ image }) => image === '/dev/shm/program');
    expect(digests.map(({ digest }) => digest)).toEqual(ran);
  });

  it('are seen however they are executed', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-ways' });
    const by = `${place.work}/attack`;
    const inMemory = '/memfd:/../usr/bin/in-memory (deleted)';
    const listed = listPrograms(recorded).map((text) => text.replace(/\/#\d+ /, '/#N '));
    expect(listed).toEqual(
      [
        `${by}  < assay`,
        `${place.work}/p/#N (deleted)  < ${by}`,
        ...['a', 'b', 'c', 'd'].map((name) => `${place.work}/p/${name}  < ${by}`),
        `${inMemory}  < ${by}`,
        `${SHELL} /memfd:script (deleted) < ${by}`,
        ...['s', 'chain', 'relative'].map((name) => `${SHELL} ${place.work}/p/${name} < ${by}`),
        `${place.work}/p/a ${place.work}/p/bare < ${by}`,
      ].sort(),
    );
    const ran = linesOf(recorded.outcome.stdout, 'ran');
    expect(listStarts(recorded)).toMatchObject({ 'p/#${N}': 1, '/memfd:${N}': 1 });
    // The label of memory makes no program of the system of it.
    expect(JSON.stringify(recorded.evidence)).not.toContain('"/usr/bin/in-memory');
    const counted = Object.values(listStarts(recorded)).reduce((sum, starts) => sum + starts, 0);
    expect(counted).toBe(ran.length + 1);
  });

  it.for([62, 200])('have the parent that started them, %i starts on', async (option) => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-deep', option });
    const by = `${place.work}/attack`;
    expect(new Set(listPrograms(recorded))).toEqual(
      new Set([
        `${by}  < assay`,
        `${by}  < ${by}`,
        `${place.work}/p/a  < ${by}`,
        `${place.work}/p/b  < ${place.work}/p/a`,
      ]),
    );
    expect(listStarts(recorded)).toEqual({ attack: option + 1, 'p/a': 1, 'p/b': 1 });
    expect(programLines(recorded).length).toBeLessThan(100);
  });

  it('are not what failed to run, however it failed', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-failures' });
    expect(listPrograms(recorded)).toEqual([`${place.work}/attack  < assay`]);
    const failed = eventsOf(recorded, 'exec').map(({ path, outcome }) => [path, outcome]);
    expect(failed).toEqual([
      [`${place.work}/p/text`, 'unknown'],
      [`${place.work}/p/unexecutable`, 'EACCES'],
      [`${place.work}/p/orphan`, 'unknown'],
      [`${place.work}/p`, 'EACCES'],
      [`${place.work}/p/absent`, 'ENOENT'],
    ]);
  });

  it('are not what a program pretends to have become', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-pretended' });
    expect(listPrograms(recorded)).toEqual([`${place.work}/attack  < assay`]);
    expect(eventsOf(recorded, 'exec', 'mkdir')).toMatchObject([
      { op: 'exec', path: `${place.work}/p/text`, outcome: 'unknown' },
      { op: 'mkdir', program: { image: `${place.work}/attack` } },
    ]);
  });

  it.for([
    ['makes one call', 'record-still-mkdir', 'observed'],
    ['makes its first call in a fork', 'record-still-fork', 'observed'],
    ['makes its first call in a thread', 'record-still-thread', 'observed'],
    ['makes its first call in a fork that outlives it', 'record-still-orphan', 'observed'],
    ['ends at once', 'record-still-exit', 'observed'],
    ['crashes at once', 'record-still-crash', 'predicted'],
    ['is killed before it makes a call', 'record-still-killed', 'predicted'],
  ] as const)('are seen without a C library: one that %s', async ([, id, basis]) => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id });
    const by = `${place.work}/attack`;
    expect(listPrograms(recorded)).toEqual([`${by}  < assay`, `${place.work}/still  < ${by}`]);
    expect(listStarts(recorded)).toEqual({ attack: 1, still: 1 });
    expect(eventsOf(recorded, 'exec')).toMatchObject([
      { path: `${place.work}/still`, outcome: 'ok', basis },
    ]);
    for (const made of eventsOf(recorded, 'mkdir'))
      expect(made.program?.image).toBe(`${place.work}/still`);
  });

  it('are known by what they were where nobody has seen them', async () => {
    const place = openPlace();
    furnishPrograms(place);
    place.write('work/p/crash', '#!./still crash\n', 0o755);
    place.write('work/p/crasher', readFileSync(findStill()), 0o755);
    const recorded = await runRecorded({ place, id: 'record-still-unseen' });
    const by = `${place.work}/attack`;
    expect(listPrograms(recorded)).toEqual([
      `${by}  < assay`,
      `${place.work}/p/crasher  < ${by}`,
      `${place.work}/still ${place.work}/p/crash < ${by}`,
    ]);
    const bases = programLines(recorded).map(({ basis }) => basis);
    expect(bases).toEqual([undefined, 'predicted', 'predicted']);
    expect(recorded.evidence.entries.processes['${CWD}/p/crasher']).toMatchObject({ digests: [] });
  });

  it('are not what failed to run, though its caller was killed before anybody saw that', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-exec-killed' });
    expect(listPrograms(recorded)).toEqual([`${place.work}/attack  < assay`]);
    expect(eventsOf(recorded, 'exec')).toMatchObject([
      { path: `${place.work}/p/text`, outcome: 'unknown', basis: 'predicted' },
    ]);
  });

  it('are what they were, though they were killed while somebody looked', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-killed-in-calls', option: 2000 });
    const by = `${place.work}/attack`;
    expect(new Set(listPrograms(recorded))).toEqual(
      new Set([`${by}  < assay`, `${SHELL} ${place.work}/p/s < ${by}`]),
    );
    for (const { path } of eventsOf(recorded, 'exec')) expect(path).toBe(`${place.work}/p/s`);
    for (const { program } of eventsOf(recorded, 'mkdir')) expect(program?.image).toBe(by);
  });

  it('keep their parents, however many have just been started', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const recorded = await runRecorded({ place, id: 'record-still-crowd', option: 300 });
    const by = `${place.work}/attack`;
    expect(listPrograms(recorded)).toEqual([`${by}  < assay`, `${place.work}/still  < ${by}`]);
    expect(listStarts(recorded)).toEqual({ attack: 1, still: 300 });
    const made = eventsOf(recorded, 'mkdir').map(({ program: maker }) => maker?.image);
    expect(made).toEqual(Array.from({ length: 300 }, () => `${place.work}/still`));
  });

  it('are told from those that get their numbers later', async () => {
    const place = openPlace();
    furnishPrograms(place);
    // Only root's runs have few enough numbers for them to come again soon.
    const isRoot = person.uid === 0;
    const option = isRoot ? 800 : 100;
    const flags = isRoot ? ['--limit-pids', '1000', '--layers=-cgroup'] : [];
    const recorded = await runRecorded({ place, id: 'record-numbers', option, flags });
    const by = `${place.work}/attack`;
    const [lowest = 0] = linesOf(recorded.outcome.stdout, 'numbers')[0]?.split(' ') ?? [];
    if (isRoot) expect(Number(lowest), 'numbers come again').toBeLessThan(option);
    expect(listPrograms(recorded)).toEqual([`${by}  < assay`, `${place.work}/still  < ${by}`]);
    expect(new Set(eventsOf(recorded, 'exec').map(({ outcome }) => outcome))).toEqual(
      new Set(['ok']),
    );
    const makers = eventsOf(recorded, 'mkdir').map(({ program: maker }) => maker?.image);
    expect(makers).toEqual(Array.from({ length: option }, () => by));
  });

  it.runIf(person.uid === 0)('are told from those that get the number of a thread', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const flags = ['--limit-pids', '1000', '--layers=-cgroup'];
    const recorded = await runRecorded({ place, id: 'record-number-of-thread', flags });
    const by = `${place.work}/attack`;
    const still = `${place.work}/still`;
    expect(listPrograms(recorded)).toEqual([`${by}  < assay`, `${still}  < ${by}`]);
    expect(eventsOf(recorded, 'exec', 'mkdir')).toMatchObject([
      { path: `${place.work}/by-other`, program: { image: by } },
      { path: still, outcome: 'ok', program: { image: by } },
      { path: `${place.work}/by-still`, program: { image: still } },
    ]);
  });

  it('keep their line when their parents are gone, and in threads', async () => {
    const place = openPlace();
    furnishPrograms(place);
    const by = `${place.work}/attack`;
    const orphans = await runRecorded({ place, id: 'record-outlive' });
    expect(listPrograms(orphans)).toEqual([`${by}  < assay`, `${place.work}/p/a  < ${by}`]);
    expect(eventsOf(orphans, 'mkdir')).toMatchObject([{ program: { image: by } }]);
    const threads = await runRecorded({ place, id: 'record-thread' });
    expect(eventsOf(threads, 'mkdir')).toMatchObject([{ program: { image: by } }]);
  });
});
