import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { BackendId, BackendReport, SandboxBackend } from '../../src/backends/backend.ts';
import type { ExecOptions, ExecResult, Sandbox } from '../../src/backends/sandbox.ts';
import { SandboxError } from '../../src/backends/sandbox-error.ts';
import type { SandboxSpec } from '../../src/backends/spec.ts';
import { countHeld, findProcesses } from './leftovers.ts';
import { describeResults, type RowResult, saveResults } from './results.ts';
import type { Kit, Need, Program, ProgramRow, Row } from './row.ts';
import { ALL_ROWS } from './rows/all.ts';
import { openWorld, type World } from './world.ts';

export interface ConformanceOptions {
  readonly backend: SandboxBackend;
  /** Names the results of one of several ways to the same engine. */
  readonly variant?: string;
  /** What it does not have by its nature, and why; rows that need it are not run. */
  readonly without?: Readonly<Partial<Record<Need, string>>>;
  /** Rows, by name, that cannot be run here, and why. For what no need describes; use it sparingly. */
  readonly notRun?: Readonly<Record<string, string>>;
  /** What it has on the host besides processes, descriptors and mounts of this process: containers, networks. */
  readonly countLeftovers?: () => Promise<Readonly<Record<string, number>>>;
  /** The same backend where its engine is not. */
  readonly makeUnavailable?: () => SandboxBackend | Promise<SandboxBackend>;
  /** How much longer things take than in a process of this host; 10 for an emulated machine. */
  readonly slowness?: number;
}

/** The counts of the whole kit instead of shorter ones. */
export const IS_FULL = process.env['ASSAY_CONFORMANCE'] === 'full';
const SECOND = 1000;
const DEFAULT_SECONDS = 20;

const NAMES = { python: 'row.py', javascript: 'row.mjs', bash: 'row.sh' } as const;

/** What a backend says about itself answers some needs; the rest is there unless the options say otherwise. */
function findMissing(
  need: Need,
  report: BackendReport,
  without: ConformanceOptions['without'],
): string | undefined {
  const own = without?.[need];
  if (own !== undefined) return own;
  const { guarantees, languages } = report;
  if (need === 'python' || need === 'javascript' || need === 'bash')
    return languages[need] ? undefined : `there is no ${need} in it`;
  if (need === 'shared kernel')
    return guarantees.kernel === 'shared' ? undefined : 'the kernel is not the one of the host';
  if (need === 'network')
    return guarantees.network === 'none' ? 'it has no network at all here' : undefined;
  if (need === 'rw' || need === 'ro' || need === 'copy')
    return guarantees.workspace.includes(need) ? undefined : `it has no ${need} workspace`;
  if (!need.startsWith('limit:')) return undefined;
  const limit = need.slice('limit:'.length) as keyof typeof guarantees.limits;
  return guarantees.limits[limit] === 'none' ? `it does not limit ${limit} here` : undefined;
}

function needsOf(row: Row): Need[] {
  return [...('language' in row ? [row.language] : []), ...(row.needs ?? [])];
}

/** Into the workspace, or where a backend has code of a workspace that nobody can write to. */
async function place(sandbox: Sandbox, name: string, code: string): Promise<string> {
  try {
    await sandbox.fs.writeFile(name, code);
    return name;
  } catch (error) {
    if (!sandbox.putCode || !SandboxError.is(error) || error.code !== 'path_denied') throw error;
    return await sandbox.putCode(name, Buffer.from(code));
  }
}

class KitRun implements Kit {
  readonly id: BackendId;
  readonly backend: SandboxBackend;
  readonly report: BackendReport;
  readonly world: World;
  readonly slowness: number;
  readonly makeUnavailable: Kit['makeUnavailable'];
  readonly anyLanguage: Program['language'];
  readonly #countOwn: () => Promise<Readonly<Record<string, number>>>;
  readonly #own = new Set<Sandbox>();
  /** For rows that leave nothing behind: one sandbox for each way to ask for it. */
  readonly #shared = new Map<string, Promise<Sandbox>>();

  constructor(report: BackendReport, world: World, options: ConformanceOptions) {
    this.id = report.id;
    this.backend = options.backend;
    this.report = report;
    this.world = world;
    this.slowness = options.slowness ?? 1;
    this.makeUnavailable = options.makeUnavailable;
    this.anyLanguage = report.languages.python ? 'python' : 'javascript';
    this.#countOwn = options.countLeftovers ?? (async () => ({}));
  }

  async open(spec: SandboxSpec = {}): Promise<Sandbox> {
    const sandbox = await this.backend.create(spec);
    this.#own.add(sandbox);
    return sandbox;
  }

  argvFor(language: Program['language'], path: string): string[] {
    return [...(this.report.languages[language]?.argv ?? []), path];
  }

  printing(text: string): Program {
    const quoted = JSON.stringify(text);
    return this.anyLanguage === 'python'
      ? { language: 'python', code: `print(${quoted})` }
      : { language: 'javascript', code: `console.log(${quoted})` };
  }

  async run(sandbox: Sandbox, program: Program, options?: ExecOptions): Promise<ExecResult> {
    const path = await place(sandbox, NAMES[program.language], program.code);
    return await sandbox.exec(this.argvFor(program.language, path), options);
  }

  async countLeftovers(): Promise<Record<string, number>> {
    return { ...countHeld(), ...(await this.#countOwn()) };
  }

  async runRow(row: ProgramRow): Promise<void> {
    const { world } = this;
    const spec = typeof row.spec === 'function' ? row.spec(world) : (row.spec ?? {});
    const code = typeof row.code === 'function' ? row.code(world) : row.code;
    const sandbox = row.isAlone ? await this.open(spec) : await this.#share(spec);
    const options = typeof row.options === 'function' ? row.options(this) : row.options;
    let result;
    try {
      result = row.isInPlace
        ? await sandbox.exec(this.argvFor(row.language, NAMES[row.language]), options)
        : await this.run(sandbox, { language: row.language, code }, options);
    } catch (error) {
      this.#shared.delete(JSON.stringify(spec)); // it may be broken now
      throw error;
    }
    // What ends a program may end the whole sandbox, and the next row needs another one then.
    if (result.outcome.kind !== 'exited' && this.#shared.delete(JSON.stringify(spec)))
      this.#own.add(sandbox);
    const out = Buffer.from(result.stdout).toString();
    const err = Buffer.from(result.stderr).toString();
    await row.check({ result, out, err, sandbox, kit: this, world });
    expect(`${out}${err}`, 'what the program printed').not.toContain(world.canary);
  }

  #share(spec: SandboxSpec): Promise<Sandbox> {
    const key = JSON.stringify(spec);
    const found = this.#shared.get(key) ?? this.backend.create(spec);
    this.#shared.set(key, found);
    return found;
  }

  async endRow(): Promise<void> {
    for (const sandbox of this.#own) await sandbox[Symbol.asyncDispose]();
    this.#own.clear();
  }

  async close(): Promise<void> {
    await this.endRow();
    for (const sandbox of this.#shared.values()) await (await sandbox)[Symbol.asyncDispose]();
  }
}

/** Every row on one backend. Prints the counts at the end; writes them where `ASSAY_KIT_RESULTS` says. */
export async function defineConformance(options: ConformanceOptions): Promise<void> {
  const report = await options.backend.probe();
  const results: RowResult[] = [];
  const slowness = options.slowness ?? 1;
  describe(`the backend ${report.id}`, () => {
    let world: World | undefined;
    let kit: KitRun | undefined;
    beforeAll(async () => {
      if (!report.isAvailable) return;
      world = await openWorld();
      kit = new KitRun(report, world, options);
    });
    afterEach(async () => await kit?.endRow());
    afterAll(
      async () => {
        await kit?.close();
        await world?.close();
        console.log(
          describeResults(
            saveResults(report, results, { isFull: IS_FULL, variant: options.variant }),
          ),
        );
      },
      60 * SECOND * slowness,
    );

    for (const row of ALL_ROWS) {
      const { group, name } = row;
      const missing = report.isAvailable
        ? (options.notRun?.[name] ??
          needsOf(row)
            .map((need) => findMissing(need, report, options.without))
            .find((reason) => reason !== undefined))
        : `${report.id} is not available: ${report.reasons.join('; ')}`;
      const timeout = (row.seconds ?? DEFAULT_SECONDS) * SECOND * slowness;
      it(`${group}: ${name}`, { timeout }, async (context) => {
        if (missing !== undefined || !kit || !world) {
          results.push({ group, name, status: 'not run', reason: missing });
          context.skip(missing ?? 'the backend could not be set up');
        }
        try {
          await ('act' in row ? row.act(kit as Kit) : (kit as KitRun).runRow(row));
          expect(world?.findDamage(), 'planted files that were changed').toEqual([]);
          expect(findProcesses(world?.token ?? ''), 'processes left behind').toEqual([]);
          results.push({ group, name, status: 'passed' });
        } catch (error) {
          results.push({ group, name, status: 'failed' });
          throw error;
        }
      });
    }
  });
}
