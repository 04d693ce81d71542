import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { guessFacts } from '../../src/host/guess-facts.ts';
import { wantsEveryNamespace } from '../../src/launch/early-helper.ts';
import { encodePlan } from '../../src/launch/encode-plan.ts';
import { ALL_LAYERS } from '../../src/plan/layers.ts';
import { LAYERS, type LaunchPlan } from '../../src/plan/plan.ts';
import { findChildren, waitUntil } from '../e2e/processes.ts';

const HELPER = join(import.meta.dirname, '../../dist/assay-helper');
const EVERY_NAMESPACE = 31;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

describe('a helper that waits for its plan', () => {
  let folder = '';
  let fd = -1;
  let helper: ChildProcess;
  let ended: Promise<Ended>;
  const planFile = (): string => join(folder, 'plan');
  const channel = (): Duplex => helper.stdio[4] as Duplex;

  function start(namespaces: number): void {
    fd = openSync(planFile(), 'wx+', 0o600);
    helper = spawn(HELPER, ['wait', String(namespaces)], {
      stdio: ['ignore', 'ignore', 'pipe', fd, 'pipe'],
      env: {},
      cwd: '/',
    });
    ended = new Promise((resolve) => {
      helper.once('exit', (code, signal) => resolve({ code, signal }));
    });
    channel().on('error', () => undefined); // it may be gone when it is written to
  }

  function makePlan(namespaces: LaunchPlan['namespaces']): Uint8Array {
    const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const plan: LaunchPlan = {
      ...ids,
      flags: {},
      namespaces,
      parentPid: process.pid,
      argv: ['/bin/sh', '-c', 'readlink /proc/self/ns/net; exit 7'],
      env: [['PATH', '/usr/bin:/bin']],
      cwd: '/',
      banner: 'the plan is there\n',
      scopedDir: folder,
      privateTmp: [],
      sharedInTmp: [],
      mounts: [],
      landlock: null,
      filter: null,
      brokerRules: [],
      doorRanges: [],
      maxFiles: 0,
      firstPid: 0,
      rlimits: [],
      cgroups: [],
      softLimits: {},
      timeoutMs: 20_000,
      graceMs: 100,
    };
    return encodePlan(plan, null);
  }

  /** What the helper wrote behind the plan. */
  function readReport(plan: Uint8Array): string {
    return readFileSync(planFile()).subarray(plan.length).toString();
  }

  async function findKeeper(): Promise<number> {
    await waitUntil(() => findChildren(helper.pid ?? 0).length > 0);
    return findChildren(helper.pid ?? 0)[0] ?? 0;
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'assay-early-'));
  });
  afterEach(async () => {
    if (helper.exitCode === null && helper.signalCode === null) helper.kill('SIGKILL');
    await ended;
    closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['with what it has made', ['user', 'mount', 'pid', 'ipc', 'net']],
    ['with other namespaces, when the plan wants those', ['user', 'net']],
  ] as const)('starts the program %s, and says so before it is gone', async (_, namespaces) => {
    start(EVERY_NAMESPACE);
    const plan = makePlan(namespaces);
    writeFileSync(fd, plan);
    const said = new Promise<string>((resolve) => {
      channel().once('data', (bytes: Buffer) => resolve(bytes.toString()));
    });
    channel().write('G');
    expect(await said).toBe('"E"\n');
    expect(readReport(plan)).toContain('{"end":{"code":7,');
    expect(await ended).toEqual({ code: 7, signal: null });
  });

  it('ends when there will be no plan, and leaves nothing', async () => {
    start(EVERY_NAMESPACE);
    const keeper = await findKeeper();
    channel().destroy();
    expect(await ended).toEqual({ code: 125, signal: null });
    expect(existsSync(`/proc/${keeper}`)).toBe(false);
    expect(readFileSync(planFile(), 'utf8')).toBe('');
  });

  it('takes what it has made with it when it is killed', async () => {
    start(EVERY_NAMESPACE);
    const keeper = await findKeeper();
    helper.kill('SIGKILL');
    await ended;
    expect(await waitUntil(() => !existsSync(`/proc/${keeper}`))).toBe(true);
  });

  it('runs nothing when it is told of a plan that is not there', async () => {
    start(EVERY_NAMESPACE);
    channel().write('G');
    expect(await ended).toEqual({ code: 125, signal: null });
    expect(readFileSync(planFile(), 'utf8')).toContain('"what":"no plan to read"');
  });
});

describe('wantsEveryNamespace()', () => {
  it('is a guess from what the host has and what is asked for', () => {
    const host = guessFacts();
    const missing = { isAvailable: false, reason: 'test' } as const;
    const without = new Set(LAYERS.filter((layer) => layer !== 'net'));
    expect(wantsEveryNamespace(host, ALL_LAYERS)).toBe(true);
    expect(wantsEveryNamespace(host, { ...ALL_LAYERS, left: without })).toBe(false);
    const poorer = { ...host, namespaces: { ...host.namespaces, pid: missing } };
    expect(wantsEveryNamespace(poorer, ALL_LAYERS)).toBe(false);
  });
});
