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
import type { HostFacts } from '../../host/facts.ts';
import { probeFacts } from '../../host/probe-facts.ts';
import { encodePlan } from '../../launch/encode-plan.ts';
import { describeErrno } from '../../launch/errno.ts';
import { helperPath } from '../../launch/helper-path.ts';
import { readHostTree } from '../../launch/host-tree.ts';
import { loadFilter } from '../../launch/load-filter.ts';
import { type HelperReport, ReportReader } from '../../launch/report.ts';
import { correctFacts } from '../../launch/run.ts';
import type { LayerChoice } from '../../plan/layers.ts';
import { makePlan, type Plan } from '../../plan/make-plan.ts';
import { choosePlanNet, type PlanNet } from '../../plan/net-plan.ts';
import { LAYERS } from '../../plan/plan.ts';
import { escapeLiteral } from '../../policy/glob.ts';
import type { FsRight, FsRule, Policy } from '../../policy/policy.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Engine } from './engine.ts';

const MIB = 1024 * 1024;
/** For QEMU itself, besides the memory of the guest: translated code, buffers, libraries. */
const OWN_MIB = 1536;
const RLIMIT_AS = 9;
const OPEN_FILES = 64;
/** Nobody's: not the one of `nobody`, which may own files and reserved blocks. */
const UID = 61_973;
const ROOT = 0;
/** Nothing on the host: what is written below /tmp is in memory, and goes with the process. */
const NO_TMP = '/tmp/assay-microvm';
const MAX_ATTEMPTS = 8;

/** What QEMU does is not recorded, and it has nothing to ask for: so there is no broker, and there are no doors. */
const CHOICE: LayerChoice = {
  left: new Set(LAYERS.filter((layer) => !['broker', 'nft', 'cgroup'].includes(layer))),
  landlockAbi: null,
};

const LIBRARIES = ['/usr', '/lib', '/lib64', '/bin', '/etc/ld.so.cache', '/etc/ld.so.preload'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/urandom', '/dev/random'];

function allow(path: string, rights: readonly FsRight[]): FsRule {
  const origin = { source: 'microvm', key: 'fs', text: path };
  return { effect: 'allow', rights, pattern: escapeLiteral(path), origin };
}

function makePolicy(engine: Engine, isAccelerated: boolean): Policy {
  const device = isAccelerated ? [...DEVICES, '/dev/kvm'] : DEVICES;
  return {
    name: 'microvm',
    isDefault: false,
    fs: [
      ...LIBRARIES.map((path) => allow(path, ['read', 'exec'])),
      allow(dirname(engine.qemu), ['read', 'exec']),
      allow(engine.guest.directory, ['read']),
      ...device.map((path) => allow(path, ['read', 'write'])),
    ],
    net: [],
    inject: [],
    unix: [],
    env: { mode: 'strict', isExecStripped: true, isPathSafe: true, allow: [], deny: [], set: {} },
    // QEMU writes no file: what it may write would be in a /tmp of its own.
    limits: { openFiles: OPEN_FILES, diskBytes: MIB },
  };
}

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

const OTHERS_EXECUTE = 0o001;
const GROUP_WRITES = 0o060;

/** Root gives up being root, where somebody else can get at the helper and at the device. */
function chooseIdentity(isAccelerated: boolean): Identity | undefined {
  if (process.getuid?.() !== ROOT) return undefined;
  for (let path = helperPath(); path !== '/'; path = dirname(path))
    if ((statSync(path).mode & OTHERS_EXECUTE) === 0) return undefined;
  if (!isAccelerated) return { uid: UID, gid: UID };
  const { gid, mode } = statSync('/dev/kvm');
  return gid !== ROOT && (mode & GROUP_WRITES) === GROUP_WRITES ? { uid: UID, gid } : undefined;
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

/** The second wall: whoever breaks out of a guest is in a process that this project's own boundary holds. */
export class Confinement {
  readonly #engine: Engine;
  readonly #isAccelerated: boolean;
  readonly #identity: Identity | undefined;
  readonly #planNet: PlanNet;
  #host: HostFacts;

  private constructor(engine: Engine, isAccelerated: boolean, planNet: PlanNet) {
    this.#engine = engine;
    this.#planNet = planNet;
    this.#isAccelerated = isAccelerated;
    this.#identity = chooseIdentity(isAccelerated);
    const { facts } = probeFacts({ helper: helperPath() });
    this.#host = { ...facts, ...this.#identity };
  }

  /** Finds out by doing what of the boundary this machine accepts. */
  static async find(engine: Engine, isAccelerated: boolean): Promise<Confinement> {
    accessSync(helperPath(), constants.X_OK);
    const confinement = new Confinement(engine, isAccelerated, await choosePlanNet([]));
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      const plan = await confinement.#tryOut();
      const report = plan.readReport();
      const why = plan.explain();
      plan.close();
      if (report.end?.code === 0) return confinement;
      const corrected = correctFacts(confinement.#host, report);
      if (!corrected) throw new SandboxError('start_failed', `Cannot confine QEMU: ${why}`);
      confinement.#host = corrected;
    }
    throw new SandboxError(
      'start_failed',
      'Cannot find a boundary for QEMU that this host accepts',
    );
  }

  /** What of it is not there, and why. */
  get gaps(): string[] {
    const { layers } = this.#plan(['/bin/true'], 0);
    const missing = layers
      .filter(({ layer, status }) => CHOICE.left.has(layer) && status === 'absent')
      .map(({ layer, reason }) => `QEMU itself is not held by ${layer}: ${reason}`);
    const isRoot = process.getuid?.() === ROOT && !this.#identity;
    return isRoot
      ? [
          ...missing,
          'QEMU runs as root, without its rights: others cannot reach the helper or /dev/kvm',
        ]
      : missing;
  }

  /** Whoever starts it is the parent that it ends with. */
  async prepare(argv: readonly string[], memoryMib: number): Promise<ConfinedCommand> {
    const { launch } = this.#plan(argv, memoryMib);
    const bytes = encodePlan(
      { ...launch, banner: '', cgroups: [] },
      await loadFilter(launch.filter),
    );
    return { file: helperPath(), identity: this.#identity, plan: new PlanFile(bytes) };
  }

  #plan(argv: readonly string[], memoryMib: number): Plan {
    const plan = makePlan({
      policy: makePolicy(this.#engine, this.#isAccelerated),
      variables: { cwd: '/', home: '/', tmpdir: NO_TMP, user: 'microvm' },
      host: this.#host,
      tree: readHostTree(),
      choice: CHOICE,
      planNet: this.#planNet,
      argv,
      env: [],
      parentPid: process.pid,
      graceMs: 0,
    });
    const bytes = (memoryMib + OWN_MIB) * MIB;
    const { launch } = plan;
    const rlimits = [...launch.rlimits, { resource: RLIMIT_AS, soft: bytes, hard: bytes }];
    return { ...plan, launch: { ...launch, rlimits, scopedDir: '' } };
  }

  async #tryOut(): Promise<PlanFile> {
    const { file, plan, identity } = await this.prepare(['/bin/true'], 0);
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
