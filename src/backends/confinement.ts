import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HostFacts } from '../host/facts.ts';
import { encodePlan } from '../launch/encode-plan.ts';
import { describeErrno } from '../launch/errno.ts';
import { helperPath } from '../launch/helper-path.ts';
import { readHostTree } from '../launch/host-tree.ts';
import { loadFilter } from '../launch/load-filter.ts';
import { type HelperReport, ReportReader } from '../launch/report.ts';
import { correctFacts } from '../launch/correct-facts.ts';
import type { LayerChoice } from '../plan/layers.ts';
import type { Rlimit } from '../plan/limits.ts';
import { makePlan, type Plan } from '../plan/make-plan.ts';
import { choosePlanNet, type PlanNet } from '../plan/net-plan.ts';
import { LAYERS } from '../plan/plan.ts';
import { escapeLiteral } from '../policy/glob.ts';
import type { FsRight, FsRule, Limits, Policy } from '../policy/policy.ts';
import { SandboxError } from './sandbox-error.ts';

const MAX_ATTEMPTS = 8;
const ROOT = 0;
/** Nobody's: not the one of `nobody`, which may own files and reserved blocks. */
export const NOBODY = 61_973;

/** What an engine does is not recorded, and it has nothing to ask for: so there is no broker, and there are no doors. */
const CHOICE: LayerChoice = {
  left: new Set(LAYERS.filter((layer) => !['broker', 'nft', 'cgroup'].includes(layer))),
  landlockAbi: null,
};

const LIBRARIES = ['/usr', '/lib', '/lib64', '/bin', '/etc/ld.so.cache', '/etc/ld.so.preload'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/urandom', '/dev/random'];

export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** An engine: a program that runs what nobody trusts, and that is not trusted to hold it alone. */
export interface ConfinedEngine {
  /** Such as `microvm`. */
  readonly name: string;
  /** In messages, such as `QEMU`. */
  readonly title: string;
  /** Directories and files that it executes, besides the libraries of the system, and that it reads. */
  readonly programs: readonly string[];
  readonly reads: readonly string[];
  readonly devices?: readonly string[] | undefined;
  /** All of its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly limits: Limits;
  readonly host: HostFacts;
  /** Who it runs as; whoever runs assay unless given. */
  readonly identity: Identity | undefined;
}

const OTHERS = { read: 0o004, search: 0o001 };

/** Whether somebody who is nobody here gets at all of them. */
export function isOpenToOthers(paths: readonly string[]): boolean {
  return paths.every((path) => {
    if ((statSync(path).mode & OTHERS.read) === 0) return false;
    for (let above = dirname(path); above !== '/'; above = dirname(above))
      if ((statSync(above).mode & OTHERS.search) === 0) return false;
    return true;
  });
}

export function isRoot(): boolean {
  return process.getuid?.() === ROOT;
}

function allow(name: string, path: string, rights: readonly FsRight[]): FsRule {
  const origin = { source: name, key: 'fs', text: path };
  return { effect: 'allow', rights, pattern: escapeLiteral(path), origin };
}

function makePolicy(engine: ConfinedEngine): Policy {
  const { name, programs, reads, devices = [], limits } = engine;
  return {
    name,
    isDefault: false,
    fs: [
      ...[...LIBRARIES, ...programs].map((path) => allow(name, path, ['read', 'exec'])),
      ...reads.map((path) => allow(name, path, ['read'])),
      ...[...DEVICES, ...devices].map((path) => allow(name, path, ['read', 'write'])),
    ],
    net: [],
    inject: [],
    unix: [],
    env: { mode: 'strict', isExecStripped: true, isPathSafe: true, allow: [], deny: [], set: {} },
    limits,
  };
}

export interface ConfinedCommand {
  readonly file: string;
  readonly identity: Identity | undefined;
  readonly plan: PlanFile;
}

/** The plan goes in, and the report comes out, through one file that has no name. */
class PlanFile {
  /** Becomes descriptor 3 of the helper. */
  readonly fd: number;
  readonly #bytes: number;

  constructor(bytes: Uint8Array) {
    const path = join(tmpdir(), `.assay-${randomUUID()}`);
    this.fd = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    writeSync(this.fd, bytes);
    this.#bytes = bytes.length;
  }

  readReport(): HelperReport {
    const reader = new ReportReader();
    reader.feed(readFileSync(`/proc/self/fd/${this.fd}`, 'latin1').slice(this.#bytes));
    return reader.finish();
  }

  /** Why nothing came to run; empty where something did. */
  explain(): string {
    const { failed, execErrno } = this.readReport();
    if (failed) return `${failed.step}: ${failed.what}: ${describeErrno(failed.errno)}`;
    return execErrno === undefined ? '' : `it cannot be executed: ${describeErrno(execErrno)}`;
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** The second wall: whoever breaks out of an engine is in a process that this project's own boundary holds. */
export class Confinement {
  readonly #engine: ConfinedEngine;
  readonly #planNet: PlanNet;
  #host: HostFacts;
  /** The same for every process of the engine but for its arguments and its memory. */
  #plan: Plan;
  #filter: ReturnType<typeof loadFilter> | undefined;

  private constructor(engine: ConfinedEngine, planNet: PlanNet) {
    this.#engine = engine;
    this.#planNet = planNet;
    this.#host = { ...engine.host, ...engine.identity };
    this.#plan = this.#makePlan();
  }

  /** Finds out by doing what of the boundary this machine accepts. */
  static async find(engine: ConfinedEngine): Promise<Confinement> {
    accessSync(helperPath(), constants.X_OK);
    const confinement = new Confinement(engine, await choosePlanNet([]));
    const { title } = engine;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const plan = await confinement.#tryOut();
      const report = plan.readReport();
      const why = plan.explain();
      plan.close();
      if (report.end?.code === 0) return confinement;
      const corrected = await correctFacts(confinement.#host, report);
      if (!corrected) throw new SandboxError('start_failed', `Cannot confine ${title}: ${why}`);
      confinement.#host = corrected;
      confinement.#plan = confinement.#makePlan();
      confinement.#filter = undefined;
    }
    throw new SandboxError(
      'start_failed',
      `Cannot find a boundary for ${title} that this host accepts`,
    );
  }

  /** What of it is not there, and why. */
  get gaps(): string[] {
    const { title, identity } = this.#engine;
    const missing = this.#plan.layers
      .filter(({ layer, status }) => CHOICE.left.has(layer) && status === 'absent')
      .map(({ layer, reason }) => `${title} itself is not held by ${layer}: ${reason}`);
    return isRoot() && !identity
      ? [...missing, `${title} runs as root, without its rights: others cannot reach its files`]
      : missing;
  }

  /** Whoever starts it is the parent that it ends with. */
  async prepare(argv: readonly string[], rlimits: readonly Rlimit[]): Promise<ConfinedCommand> {
    const { launch } = this.#plan;
    this.#filter ??= loadFilter(launch.filter);
    const all = [...launch.rlimits, ...rlimits];
    const bytes = encodePlan(
      // Nothing is measured from time to time: what it may write is bounded by its tmpfs and by the kernel.
      { ...launch, argv, rlimits: all, softLimits: {}, scopedDir: '', banner: '', cgroups: [] },
      await this.#filter,
    );
    return { file: helperPath(), identity: this.#engine.identity, plan: new PlanFile(bytes) };
  }

  #makePlan(): Plan {
    const { name, env = {} } = this.#engine;
    return makePlan({
      policy: makePolicy(this.#engine),
      // Nothing on the host: what is written below /tmp is in memory, and goes with the process.
      variables: { cwd: '/', home: '/', tmpdir: `/tmp/assay-${name}`, user: name },
      host: this.#host,
      tree: readHostTree(),
      choice: CHOICE,
      planNet: this.#planNet,
      argv: [],
      env: Object.entries(env),
      parentPid: process.pid,
      graceMs: 0,
    });
  }

  async #tryOut(): Promise<PlanFile> {
    const { file, plan, identity } = await this.prepare(['/bin/true'], []);
    const child = spawn(file, [], {
      stdio: ['ignore', 'ignore', 'ignore', plan.fd],
      env: {},
      cwd: '/',
      ...identity,
    });
    await once(child, 'exit');
    return plan;
  }
}
