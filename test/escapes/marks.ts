import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { RunResult } from './attack.ts';
import type { Fixture } from './fixture.ts';

type Mark = (result: RunResult, fixture: Fixture) => boolean | Promise<boolean>;

function read(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The program printed what only the victim knows. */
export const printsSecret: Mark = (result, fixture) => result.stdout.includes(fixture.secret);

export function prints(pattern: RegExp): Mark {
  return (result) => pattern.test(result.stdout);
}

/** The file holds the token, whatever route it took; symlinks are followed as a victim's tool would. */
export function plants(relative: string): Mark {
  return (_result, fixture) => read(fixture.at(relative))?.includes(fixture.token) === true;
}

export function exists(relative: string): Mark {
  return (_result, fixture) =>
    fs.lstatSync(fixture.at(relative), { throwIfNoEntry: false }) !== undefined;
}

export function isGone(relative: string): Mark {
  return (_result, fixture) =>
    fs.lstatSync(fixture.at(relative), { throwIfNoEntry: false }) === undefined;
}

export function changes(relative: string, original: string): Mark {
  return (_result, fixture) => read(fixture.at(relative)) !== original;
}

export function hasStat(relative: string, test: (stat: fs.Stats) => boolean): Mark {
  return (_result, fixture) => test(fs.statSync(fixture.at(relative)));
}

/** The victim, which writes down what happens to it, noted this. */
export function victimNotes(pattern: RegExp): Mark {
  return async (_result, fixture) => {
    await sleep(150);
    return pattern.test(read(fixture.at('victim.log')) ?? '');
  };
}

/** The victim got a message with the token. */
export const reachesVictim: Mark = (result, fixture) =>
  victimNotes(new RegExp(`message ${fixture.token}`))(result, fixture);

export const endsVictim: Mark = async (_result, fixture) => {
  await sleep(50);
  return read(`/proc/${fixture.victimPid}/cmdline`)?.includes('victim') !== true;
};

export function victimHas(file: string, pattern: RegExp): Mark {
  return (_result, fixture) => pattern.test(read(`/proc/${fixture.victimPid}/${file}`) ?? '');
}

/** Something of the run still writes into the workspace after it has ended. */
export const stillBeats: Mark = async (_result, fixture) => {
  await sleep(300);
  const before = read(fixture.at('work/heartbeat'))?.length ?? 0;
  await sleep(400);
  return (read(fixture.at('work/heartbeat'))?.length ?? 0) > before;
};

/** Ordinary git work outside, later, runs the attacker's program, which makes base/pwned. */
export function gitRuns(directory: string): Mark {
  return (_result, fixture) => {
    const cwd = fixture.at(directory);
    if (!fs.existsSync(cwd)) return false;
    fixture.write(`${directory}/later.txt`, 'later');
    fixture.git(['status'], cwd);
    fixture.git(['add', '-A'], cwd);
    fixture.git(['commit', '-q', '-m', 'later'], cwd);
    return fs.existsSync(fixture.at('pwned'));
  };
}

export const pwned: Mark = (_result, fixture) => fs.existsSync(fixture.at('pwned'));
