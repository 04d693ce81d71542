import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Attack, AttackClass, AttackRun } from './attack.ts';
import { isAllowed, type StagePolicy } from './judge.ts';
import { runProgram } from './run-program.ts';
import { makeStage, type Stage, sweepStages } from './stage.ts';

export type AttackResult = 'held' | 'got through' | 'allowed by policy' | 'not run';

/** One line of the table. */
export interface AttackReport {
  readonly id: string;
  readonly title: string;
  readonly class: AttackClass;
  /** The same program without the sandbox. */
  readonly control: 'succeeds' | 'fails' | 'not run';
  readonly result: AttackResult;
  /** Why it was not run; empty otherwise. */
  readonly reason: string;
}

export interface SelftestOptions {
  readonly attacks: readonly Attack[];
  /** The command line of assay itself, up to `sandbox`. */
  readonly assay: readonly string[];
  /** `--policy`, `--preset` and `--layers` as the user gave them. */
  readonly flags: readonly string[];
  readonly hasOwnPolicy: boolean;
  readonly loadPolicy: (attack: Attack, workdir: string) => Promise<StagePolicy>;
  readonly onReport?: ((report: AttackReport) => void) | undefined;
}

const PYTHONS = ['/usr/bin/python3', '/usr/local/bin/python3'];

function findPython(): string | null {
  const fixed = PYTHONS.find((path) => existsSync(path));
  if (fixed !== undefined) return fixed;
  // A shim would have to find its way inside; the interpreter that it leads to does not.
  const found = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
    timeout: 5000,
  });
  return found.status === 0 ? found.stdout.trim() : null;
}

/** The preset that the file attacks on a workspace need, unless the user brings a policy. */
export function choosePreset(attack: Attack, hasOwnPolicy: boolean): string | undefined {
  return attack.isWorkspaceWritten && !hasOwnPolicy ? 'coding-agent' : undefined;
}

/** What is said of a boundary that lacks something is no reason: the program starts all the same. */
const IS_WARNING = /^(?:WARN|⚠|NOTE)/;

/** The error, or else the last thing that was said. */
function describeNoStart({ stderr, cutAfterMs }: AttackRun): string {
  const lines = stderr.trim().split('\n');
  const said = lines.filter((text) => text !== '' && !IS_WARNING.test(text));
  const line =
    cutAfterMs === undefined
      ? (said.find((text) => /^(?:error|assay):|\bE_[A-Z]/i.test(text)) ?? said.at(-1) ?? '')
      : `this machine did not get so far in ${cutAfterMs / 1000} s`;
  return `the program did not start inside${line ? `: ${line.slice(0, 200)}` : ''}`;
}

/** Attacks the sandbox on this host. Owns what it makes; `close` ends and removes all of it. */
export class Selftest {
  readonly #options: SelftestOptions;
  readonly #python = findPython();
  readonly #abort = new AbortController();
  #stage: Stage | undefined;

  constructor(options: SelftestOptions) {
    this.#options = options;
  }

  async run(): Promise<AttackReport[]> {
    sweepStages();
    const reports: AttackReport[] = [];
    for (const attack of this.#options.attacks) {
      if (this.#abort.signal.aborted) break;
      const report = await this.#tryAttack(attack);
      reports.push(report);
      this.#options.onReport?.(report);
    }
    return reports;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#stage?.close();
  }

  async #tryAttack(attack: Attack): Promise<AttackReport> {
    const { id, title } = attack;
    const base = { id, title, class: attack.class };
    const interpreter = attack.language === 'node' ? process.execPath : this.#python;
    if (interpreter === null)
      return { ...base, control: 'not run', result: 'not run', reason: 'needs python3' };
    const wrapper = this.#makeWrapper(attack);
    const isBareThrough = await this.#onStage(attack, async (stage) => {
      const run = await runProgram({
        attack,
        stage,
        interpreter,
        wrapper: [],
        signal: this.#abort.signal,
      });
      return attack.isThrough(run, stage);
    });
    if (!isBareThrough)
      return {
        ...base,
        control: 'fails',
        result: 'not run',
        reason: `proves nothing here: ${attack.vacuous}`,
      };
    const [result, reason] = await this.#onStage(
      attack,
      async (stage): Promise<[AttackResult, string]> => {
        const run = await runProgram({
          attack,
          stage,
          interpreter,
          wrapper,
          signal: this.#abort.signal,
        });
        if (await attack.isThrough(run, stage)) return [await this.#judge(attack, stage), ''];
        return run.hasStarted ? ['held', ''] : ['not run', describeNoStart(run)];
      },
    );
    return { ...base, control: 'succeeds', result, reason };
  }

  async #judge(attack: Attack, stage: Stage): Promise<AttackResult> {
    if (!attack.target) return 'got through';
    const policy = await this.#options.loadPolicy(attack, stage.facts.work);
    return isAllowed(attack.target(stage), policy) ? 'allowed by policy' : 'got through';
  }

  #makeWrapper(attack: Attack): string[] {
    const { assay, flags, hasOwnPolicy } = this.#options;
    const preset = choosePreset(attack, hasOwnPolicy);
    return [
      ...assay,
      '--quiet',
      ...flags,
      ...(preset ? ['--preset', preset] : []),
      ...(attack.flags ?? []),
      '--',
    ];
  }

  async #onStage<T>(attack: Attack, body: (stage: Stage) => Promise<T>): Promise<T> {
    const stage = await makeStage({ hasVictim: attack.hasVictim === true });
    this.#stage = stage;
    try {
      attack.prepare?.(stage);
      return await body(stage);
    } finally {
      await stage.close();
      this.#stage = undefined;
    }
  }
}
