import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { describeForEachPerson } from '../e2e/as-user.ts';
import { type Place, usePlaces } from '../e2e/place.ts';
import { runBare } from '../e2e/run-assay.ts';
import {
  attackWords,
  eventsOf,
  furnish,
  listGaps,
  readEvidence,
  readLines,
  recordFlags,
  runRecorded,
} from './recorded.ts';
import { ASSAY } from './run.ts';

describeForEachPerson('the recorder', (person) => {
  const openPlace = usePlaces(person);

  it.for([
    ['with every layer', []],
    ['without a pid namespace', ['--layers=-pid']],
    ['without namespaces', ['--layers=-user']],
  ] as const)('cannot be read, stopped or slowed to a halt from inside, %s', async ([, flags]) => {
    const place = openPlace();
    furnish(place);
    const recorded = await runRecorded({ place, id: 'record-keeper', flags });
    // Its own limit on descriptors keeps the last open from succeeding, and the record says so.
    expect(recorded.outcome).toMatchObject({ code: 0, stdout: 'started token\nopen EMFILE\n' });
    expect(eventsOf(recorded, 'mkdir')).toMatchObject([{ path: `${place.work}/after` }]);
    const last = eventsOf(recorded, 'read').filter(
      ({ path }) => path === `${place.work}/allowed.txt`,
    );
    expect(last.map(({ outcome }) => outcome)).toEqual(['EMFILE']);
    expect(listGaps(recorded)).toEqual([]);
  });

  it.for([
    ['the helper', 'supervisor', []],
    ['the broker', 'keeper', []],
    ['the helper, without a pid namespace', 'supervisor', ['--layers=-pid']],
    ['the broker, without a pid namespace', 'keeper', ['--layers=-pid']],
  ] as const)(
    'takes the program with it when %s is killed, and leaves what it had',
    async ([, victim, flags]) => {
      const place = openPlace();
      furnish(place);
      const { outcome } = await killWhenReady(place, victim, flags);
      expect(outcome.code).not.toBe(0);
      await expectStopped(place);
      expect(countMade(place)).toBeGreaterThan(3);
      const evidence = readEvidence(place);
      expect(evidence.coverage.changes.status).toBe('partial');
      expect(JSON.stringify(evidence.entries.files)).toContain('${CWD}/beat-0');
    },
  );

  it('leaves a record that something ran when the helper is killed at once', async () => {
    const place = openPlace();
    furnish(place);
    const { outcome } = await killWhenReady(place, 'supervisor', [], { isAtOnce: true });
    expect(outcome.stderr).not.toContain('nothing was executed');
    expect(listGaps({ outcome, lines: [], evidence: readEvidence(place) })).toContain(
      'changes: the record ends before the program did',
    );
  });

  it.for([
    ['with every layer', []],
    ['without a pid namespace', ['--layers=-pid']],
  ] as const)('takes the program with it when assay is killed, %s', async ([, flags]) => {
    const place = openPlace();
    furnish(place);
    await killWhenReady(place, 'assay', flags);
    await expectStopped(place);
    expect(countMade(place)).toBeGreaterThan(3);
  });
});

type Victim = 'assay' | 'supervisor' | 'keeper';

async function killWhenReady(
  place: Place,
  victim: Victim,
  flags: readonly string[],
  { isAtOnce = false } = {},
) {
  let isKilled = false;
  const options = { place, id: 'record-go-on', flags: [...flags] };
  const outcome = await runBare({
    place,
    command: [ASSAY, 'sandbox', ...recordFlags(options), '--', ...attackWords(options)],
    onOutput: (text) => {
      if (isKilled || !text.includes('ready')) return;
      isKilled = true;
      if (isAtOnce) process.kill(findVictim(place, victim), 'SIGKILL');
      else void killOnceTold(place, victim);
    },
  });
  return { outcome };
}

/** Not before there is something that could be lost. */
async function killOnceTold(place: Place, victim: Victim): Promise<void> {
  while (countMade(place) <= 3) await sleep(20);
  process.kill(findVictim(place, victim), 'SIGKILL');
}

/** Of directories that the record has, also while it is written. */
function countMade(place: Place): number {
  return readLines(place, { isWhole: false }).filter(({ op }) => op === 'mkdir').length;
}

/** By way up from the program: its parent is the keeper, above which is the supervisor, above which is assay. */
function findVictim(place: Place, victim: Victim): number {
  const first = listProcesses(place).find(({ words }) => words[1] === 'record-go-on');
  let pid = first?.pid ?? 0;
  // The one that the shell of the test has left is not the first: its parent is the keeper at once.
  while (readCommand(pid)[0] === './attack') pid = parentOf(pid);
  const up = { keeper: 0, supervisor: 1, assay: 2 }[victim];
  for (let step = 0; step < up; step++) pid = parentOf(pid);
  return pid;
}

function readCommand(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Processes that work in the workspace. */
function listProcesses(place: Place): { pid: number; words: string[] }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isIn(`/proc/${name}/cwd`, place.work))
    .map((name) => ({ pid: Number(name), words: readCommand(Number(name)) }));
}

function isIn(link: string, dir: string): boolean {
  try {
    return readlinkSync(link) === dir;
  } catch {
    return false;
  }
}

async function expectStopped(place: Place): Promise<void> {
  for (let round = 0; round < 50 && listProcesses(place).length > 0; round++) await sleep(40);
  expect(listProcesses(place)).toEqual([]);
}
