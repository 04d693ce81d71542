import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach } from 'vitest';

import type { Person } from './as-user.ts';

/** A workspace and a home of one test's own, removed with everything in it. */
export class Place implements Disposable {
  readonly person: Person;
  readonly base: string;
  readonly work: string;
  readonly home: string;

  constructor(person: Person, parent: string) {
    this.person = person;
    this.base = fs.mkdtempSync(join(parent, 'e2e-'));
    fs.chmodSync(this.base, 0o755);
    fs.chownSync(this.base, person.uid, person.gid);
    this.work = this.makeDir('work');
    this.home = this.makeDir('home');
  }

  at(path: string): string {
    return join(this.base, path);
  }

  makeDir(path: string): string {
    const made = fs.mkdirSync(this.at(path), { recursive: true });
    if (made !== undefined) this.#giveAway(this.at(path));
    return this.at(path);
  }

  write(path: string, text: string | Uint8Array = '', mode = 0o644): string {
    this.makeDir(join(path, '..'));
    fs.writeFileSync(this.at(path), text, { mode });
    this.#giveAway(this.at(path));
    return this.at(path);
  }

  read(path: string): string {
    return fs.readFileSync(this.at(path), 'utf8');
  }

  has(path: string): boolean {
    return fs.lstatSync(this.at(path), { throwIfNoEntry: false }) !== undefined;
  }

  #giveAway(path: string): void {
    for (let at = path; at !== this.base; at = join(at, '..'))
      fs.lchownSync(at, this.person.uid, this.person.gid);
  }

  [Symbol.dispose](): void {
    // Not rmSync(), which gives up on paths longer than the kernel takes in one piece.
    execFileSync('/bin/rm', ['-rf', this.base]);
  }
}

/** Homes are usually outside /tmp, which is special inside; so the workspace is, too. */
function chooseParent(person: Person): string {
  if (person.uid === 0 || person.prefix.length > 0) return '/home';
  return /^\/(var\/)?tmp(\/|$)/.test(tmpdir()) ? homedir() : tmpdir();
}

/** Makes places for tests and removes them after each. Call once in a describe block. */
export function usePlaces(person: Person): (parent?: string) => Place {
  const open: Place[] = [];
  afterEach(() => {
    for (const place of open.splice(0)) place[Symbol.dispose]();
  });
  return (parent = chooseParent(person)) => {
    const place = new Place(person, parent);
    open.push(place);
    return place;
  };
}
