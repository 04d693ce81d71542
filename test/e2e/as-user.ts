import { spawnSync } from 'node:child_process';

import { describe } from 'vitest';

/** Somebody who runs assay in a test. */
export interface Person {
  readonly name: 'root' | 'user';
  readonly uid: number;
  readonly gid: number;
  /** Put in front of a command to run it as this person; empty when that is who we are. */
  readonly prefix: readonly string[];
  /** Why this person cannot take part here. */
  readonly whyNot?: string | undefined;
}

const ORDINARY_ID = 54_321; // nobody on any machine: it has no entry in the user database

/** Root and an ordinary user, or only whoever runs the tests. */
export function findPeople(): readonly Person[] {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0)
    return [
      { name: 'root', uid: 0, gid: 0, prefix: [], whyNot: 'needs root to run the suite' },
      { name: 'user', uid, gid, prefix: [] },
    ];
  const prefix = [
    '/usr/bin/setpriv',
    `--reuid=${ORDINARY_ID}`,
    `--regid=${ORDINARY_ID}`,
    '--clear-groups',
  ];
  const [program = '', ...args] = prefix;
  const canRead =
    spawnSync(program, [...args, process.execPath, '-e', '0', import.meta.filename]).status === 0;
  const whyNot = canRead ? undefined : 'the project lies where an ordinary user cannot read it';
  return [
    { name: 'root', uid, gid, prefix: [] },
    { name: 'user', uid: ORDINARY_ID, gid: ORDINARY_ID, prefix, whyNot },
  ];
}

/** Declares the same behaviour for root and for an ordinary user. */
export function describeForEachPerson(title: string, body: (person: Person) => void): void {
  for (const person of findPeople()) {
    const reason = person.whyNot === undefined ? '' : ` (not run: ${person.whyNot})`;
    describe.skipIf(person.whyNot !== undefined)(`${title}, as ${person.name}${reason}`, () =>
      body(person),
    );
  }
}
