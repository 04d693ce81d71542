import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';

import { findPeople, type Person } from '../e2e/as-user.ts';
import { Place } from '../e2e/place.ts';
import type { Workload } from './workload.ts';

export const [ROOT_PERSON, USER_PERSON] = findPeople() as readonly [Person, Person];
export const SELF = ROOT_PERSON.whyNot === undefined ? ROOT_PERSON : USER_PERSON;

interface CopyOptions {
  readonly workload: Pick<Workload, 'prepare'>;
  readonly person?: Person | undefined;
  /** Where in the place the project lies. */
  readonly under?: string | undefined;
}

/** A project of its own, never used before, with a home and a place for what is written about it. */
export class Copy implements Disposable {
  readonly place: Place;
  readonly work: string;
  readonly out: string;
  readonly tmp: string;

  constructor({ workload, person = SELF, under = 'work' }: CopyOptions) {
    // Not below /tmp, where the sandbox has its own, as long as there is another place.
    this.place = new Place(person, person === SELF && person.uid !== 0 ? tmpdir() : '/home');
    this.work = fs.realpathSync(this.place.makeDir(under));
    this.out = this.place.makeDir('out');
    this.tmp = this.place.makeDir('tmp');
    workload.prepare(this.work);
    execFileSync('/bin/chown', ['-hR', `${person.uid}:${person.gid}`, this.work]);
  }

  [Symbol.dispose](): void {
    // Whoever is not root has to be given back the rights that a workload may have taken away.
    execFileSync('/bin/chmod', ['-R', 'u+rwX', this.place.base]);
    this.place[Symbol.dispose]();
  }
}
