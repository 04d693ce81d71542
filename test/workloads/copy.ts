import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';

import { findPeople, type Person } from '../e2e/as-user.ts';
import { Place } from '../e2e/place.ts';
import { type Workload, writeTree } from './workload.ts';

const [ROOT, USER] = findPeople() as readonly [Person, Person];

/** Whoever runs the tests. */
export const SELF = ROOT.whyNot === undefined ? ROOT : USER;

/** An ordinary user, and another one where there is root to become them. */
export const ORDINARY = USER.whyNot === undefined ? USER : ROOT;
export const OTHER_ORDINARY = SELF === ROOT && ORDINARY === USER ? makeOther(USER) : undefined;

/** As unknown to this machine as the first: whom the user database knows, programs treat otherwise. */
function makeOther({ uid, prefix }: Person): Person {
  const other = uid + 1111;
  const words = prefix.map((word) => word.replace(String(uid), String(other)));
  return { name: 'user', uid: other, gid: other, prefix: words };
}

/** In the workspace, so that its path is the same to everybody who looks at it from there. */
export const POLICY_FILE = 'policy.json';

interface CopyOptions {
  readonly workload: Pick<Workload, 'prepare' | 'grants'>;
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
    if (workload.grants !== undefined) this.#writePolicy(workload.grants);
    execFileSync('/bin/chown', ['-hR', `${person.uid}:${person.gid}`, this.work]);
  }

  #writePolicy(grants: object): void {
    const policy = { api_version: 'assay/v1', extends: ['coding-agent'], fs: grants };
    writeTree(this.work, { [POLICY_FILE]: JSON.stringify(policy) });
  }

  [Symbol.dispose](): void {
    // Whoever is not root has to be given back the rights that a workload may have taken away.
    execFileSync('/bin/chmod', ['-R', 'u+rwX', this.place.base]);
    this.place[Symbol.dispose]();
  }
}
