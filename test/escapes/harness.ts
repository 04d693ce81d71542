import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, it } from 'vitest';

import type { Layer } from '../../src/plan/plan.ts';
import type { Attack, RunResult } from './attack.ts';
import { findProcessesBelow, makeFixture, type Attacker, type Fixture } from './fixture.ts';
import { findAttack } from './program.ts';
import { ASSAY, runBare, runInside } from './run.ts';
import { Summary } from './summary.ts';

const ORDINARY: Attacker = { name: 'user', uid: 54_321, gid: 54_321 };

/** Layers whose absence a host may force on us; leaving out `user` takes the other namespaces along. */
const DEGRADED: readonly Layer[] = [
  'user',
  'mount',
  'pid',
  'ipc',
  'net',
  'landlock',
  'broker',
  'cgroup',
];

/** With ASSAY_ESCAPES=all every attack meets every degraded set; else the ordinary user's the sets that concern its control. */
const isExhaustive = process.env['ASSAY_ESCAPES'] === 'all';

const LIMIT = { timeout: 60_000 };

/** Bare, a race may need another try to be won; inside, one win is one too many. */
const RACE_TRIES = 3;

/** Declares, for each attack and attacker: it succeeds bare, it fails inside, it fails or is announced degraded. */
export function declareAttacks(title: string, attacks: readonly Attack[]): void {
  describe(title, () => {
    const summary = new Summary(title);
    afterAll(() => summary.print());

    const attackers = listAttackers();
    const isReachable = canReachProject();
    for (const attacker of attackers) {
      for (const attack of attacks) {
        const skipReason = whyNotFor(attack, attacker, isReachable);
        describe.skipIf(skipReason !== undefined)(
          `${attack.id} as ${attacker.name}: ${attack.title}`,
          () => {
            const trial = new Trial(attack, attacker, summary);
            it('succeeds without the sandbox', LIMIT, ({ skip }) => trial.proveBare(skip));
            it('fails inside', LIMIT, ({ skip }) => trial.proveInside(skip));
            for (const layer of listDegraded(attack, attacker))
              it(`fails, or is announced, without ${layer}`, LIMIT, ({ skip }) =>
                trial.proveDegraded(layer, skip),
              );
          },
        );
      }
    }
  });
}

type Skip = (reason: string) => never;

class Trial {
  readonly #attack: Attack;
  readonly #attacker: Attacker;
  readonly #summary: Summary;
  #bare: 'unknown' | 'succeeds' | 'vacuous' = 'unknown';

  constructor(attack: Attack, attacker: Attacker, summary: Summary) {
    this.#attack = attack;
    this.#attacker = attacker;
    this.#summary = summary;
  }

  async proveBare(skip: Skip): Promise<void> {
    const isRace = this.#attack.id.startsWith('race-');
    for (let left = isRace ? RACE_TRIES : 1; left > 0 && this.#bare !== 'succeeds'; left--)
      await this.#tryBare(skip, left === 1);
  }

  async #tryBare(skip: Skip, isLast: boolean): Promise<void> {
    await this.#withFixture(async (fixture) => {
      const reason = this.#attack.vacuousWhen?.(fixture);
      const result = await runBare(this.#attack, fixture);
      const hasSucceeded = await this.#attack.isSuccess(result, fixture);
      this.#bare = hasSucceeded ? 'succeeds' : 'vacuous';
      this.#note('bare', hasSucceeded ? 'succeeds' : 'vacuous');
      if (!hasSucceeded && reason !== undefined) skip(`vacuous here: ${reason}`);
      if (isLast)
        expect(hasSucceeded, describeRun('must succeed without the sandbox', result)).toBe(true);
    });
  }

  async proveInside(skip: Skip): Promise<void> {
    this.#requireProof(skip);
    await this.#withFixture(async (fixture) => {
      const result = await runInside(this.#attack, fixture, []);
      const hasSucceeded = await this.#attack.isSuccess(result, fixture);
      const left = await listLeftovers(fixture);
      this.#note(
        'inside',
        !result.hasStarted
          ? 'not started'
          : hasSucceeded
            ? 'GOT THROUGH'
            : left.length > 0
              ? 'LEFT BEHIND'
              : 'held',
      );
      expect(result.hasStarted, describeRun('the program must start inside', result)).toBe(true);
      expect(hasSucceeded, describeRun('must fail inside', result)).toBe(false);
      expect(left, 'processes must not outlive the run').toEqual([]);
    });
  }

  /** Without a layer: it fails all the same, or --fail-closed refuses to start because of what is missing. */
  async proveDegraded(layer: Layer, skip: Skip): Promise<void> {
    this.#requireProof(skip);
    const hasSucceeded = await this.#withFixture(async (fixture) => {
      const result = await runInside(this.#attack, fixture, [`--layers=-${layer}`]);
      const left = await listLeftovers(fixture);
      const isRefused = !result.hasStarted && result.code === 2;
      if (!isRefused)
        expect(
          result.hasStarted,
          describeRun('the program must start, or be refused', result),
        ).toBe(true);
      const isThrough = await this.#attack.isSuccess(result, fixture);
      if (!isThrough)
        this.#note(`-${layer}`, isRefused ? 'refused' : left.length > 0 ? 'LEFT BEHIND' : 'held');
      expect(left, 'processes must not outlive the run').toEqual([]);
      return isThrough;
    });
    if (!hasSucceeded) return;
    await this.#withFixture(async (fixture) => {
      const result = await runInside(this.#attack, fixture, [
        `--layers=-${layer}`,
        '--fail-closed',
      ]);
      const isAnnounced = result.code === 2 && !result.hasStarted;
      this.#note(`-${layer}`, isAnnounced ? 'announced' : 'GOT THROUGH');
      expect(
        isAnnounced,
        describeRun('got through unannounced: --fail-closed must refuse', result),
      ).toBe(true);
    });
  }

  #requireProof(skip: Skip): void {
    if (!fs.existsSync(ASSAY)) skip('assay is not built');
    if (this.#bare !== 'succeeds') skip('not proven to succeed without the sandbox');
  }

  async #withFixture<T>(body: (fixture: Fixture) => Promise<T>): Promise<T> {
    const { prepare, undo } = this.#attack;
    const fixture = await makeFixture({
      attacker: this.#attacker,
      program: findAttack(),
      prepare,
    });
    try {
      return await body(fixture);
    } finally {
      undo?.(fixture);
      fixture.close();
    }
  }

  #note(column: string, result: string): void {
    this.#summary.note({ attack: this.#attack, attacker: this.#attacker.name, column, result });
  }
}

/** The tree is given a moment: the kernel ends processes after it has told us that the first one ended. */
async function listLeftovers(fixture: Fixture): Promise<number[]> {
  const isOurs = (pid: number) => pid !== fixture.victimPid && !isVictimsKeeper(pid);
  for (let round = 0; round < 60; round++) {
    const left = findProcessesBelow(fixture.base).filter(isOurs);
    if (left.length === 0) return left;
    await sleep(30);
  }
  return findProcessesBelow(fixture.base).filter(isOurs);
}

function isVictimsKeeper(pid: number): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1] === 'victim';
  } catch {
    return true;
  }
}

function describeRun(claim: string, result: RunResult): string {
  const end = result.signal ?? `exit ${result.code}`;
  return `${claim} (${end}, ${Math.round(result.elapsedMs)} ms)\n${result.stdout.slice(0, 800)}\n${result.stderr.slice(-1600)}`;
}

/** Root attacks as root and as an ordinary user; anybody else only as who they are. */
function listAttackers(): Attacker[] {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return [{ name: 'user', uid, gid: process.getgid?.() ?? uid }];
  return [{ name: 'root', uid: 0, gid: 0 }, ORDINARY];
}

function whyNotFor(attack: Attack, attacker: Attacker, isReachable: boolean): string | undefined {
  if (attack.needs === 'root' && attacker.uid !== 0) return 'needs root';
  if (attack.needs === 'x64' && process.arch !== 'x64') return 'needs x86-64';
  if (attack.needs === 'user under root' && (attacker.uid === 0 || process.getuid?.() !== 0)) {
    return 'needs root to set up and an ordinary user to attack';
  }
  if (attacker === ORDINARY && !isReachable)
    return 'the project lies where an ordinary user cannot read';
  return undefined;
}

function canReachProject(): boolean {
  const result = spawnSync(process.execPath, ['-e', '0', import.meta.filename], {
    uid: ORDINARY.uid,
    gid: ORDINARY.gid,
    cwd: import.meta.dirname,
  });
  return result.status === 0;
}

function listDegraded(attack: Attack, attacker: Attacker): Layer[] {
  if (isExhaustive) return [...DEGRADED];
  // Hosts that lack a layer are met by ordinary users first; root differs in what the full set has to hold.
  if (attacker.uid === 0) return [];
  return DEGRADED.filter((layer) => attack.control.includes(layer) || layer === 'user');
}
