import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { COMPILING_MS, ROOT, SANITIZER_ALARM, SOURCES, Workshop } from './compile.ts';
import { makeRealPlan, mutatePlan, mutations, type PlanOwner } from './plans.ts';

const isRoot = process.getuid?.() === 0;
/** A mutated plan may ask for anything, so nobody with rights performs it. */
const ORDINARY = { uid: 54_321, gid: 54_321 };
const WHO = isRoot ? ORDINARY : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

const LONGEST_RUN_MS = 20_000;

function frame(plan: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(plan.length);
  return Buffer.concat([size, plan]);
}

describe('native/plan.c', () => {
  const workshop = new Workshop();
  let driver = '';
  let helper = '';
  let owner: PlanOwner = { ...WHO, dir: '' };
  let real: Uint8Array = new Uint8Array();

  function build(name: string, sources: readonly string[], extra: readonly string[]): string {
    const built = workshop.build(name, ['-std=c11', '-g', '-pthread', ...extra, ...sources]);
    if ('problem' in built) throw new Error(built.problem);
    return built.program;
  }

  beforeAll(() => {
    const sanitizers = workshop.findSanitizers();
    const parts = ['plan.c', 'match.c', 'report.c'].map((name) => join(ROOT, 'native', name));
    driver = build('driver', [join(ROOT, 'test/native/plan-driver.c'), ...parts], sanitizers);
    helper = build('helper', SOURCES, sanitizers);
    chmodSync(workshop.path, 0o755);
    const dir = join(workshop.path, 'dir');
    mkdirSync(dir);
    if (isRoot) chownSync(dir, WHO.uid, WHO.gid);
    owner = { ...WHO, dir };
    real = makeRealPlan(owner);
  }, COMPILING_MS);
  afterAll(() => workshop.close());

  function readAll(plans: readonly Uint8Array[]): string {
    const { stdout, stderr } = spawnSync(driver, [], {
      input: Buffer.concat(plans.map(frame)),
      encoding: 'latin1',
      env: { ASAN_OPTIONS: 'detect_leaks=0' },
    });
    expect(stderr).not.toMatch(SANITIZER_ALARM);
    return stdout;
  }

  it('reads a real plan, and refuses every cut of it', () => {
    expect(readAll([real])).toBe('r');
    const cuts = Array.from({ length: 800 }, (_, index) => Math.floor((index * real.length) / 800));
    expect(readAll(cuts.map((size) => real.subarray(0, size)))).toBe('d'.repeat(cuts.length));
  });

  it('reads or refuses thousands of damaged plans, and never breaks', { timeout: 180_000 }, () => {
    let refused = 0;
    let read = 0;
    fc.assert(
      fc.property(fc.array(mutations, { maxLength: 150, size: 'max' }), (lists) => {
        const letters = readAll(lists.map((list) => mutatePlan(real, list)));
        expect(letters).toMatch(/^[rd]*$/);
        expect(letters.length).toBe(lists.length);
        refused += letters.split('d').length - 1;
        read += letters.split('r').length - 1;
      }),
      { numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(1000);
    expect(read).toBeGreaterThan(100);
  });

  /** The whole helper on one plan. */
  function perform(
    plan: Uint8Array,
  ): Promise<{ end: number | string; stderr: string; report: string }> {
    const file = join(workshop.path, 'plan');
    writeFileSync(file, plan);
    const fd = openSync(file, 'r+');
    const child = spawn(helper, [], {
      ...WHO,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe', fd, 'pipe'],
      env: { ASAN_OPTIONS: 'detect_leaks=0' },
    });
    closeSync(fd);
    let stderr = '';
    child.stderr?.setEncoding('latin1').on('data', (text: string) => (stderr += text));
    return new Promise((resolve) => {
      const leash = setTimeout(() => child.kill('SIGKILL'), LONGEST_RUN_MS);
      child.on('close', (code, signal) => {
        clearTimeout(leash);
        resolve({
          end: signal ?? code ?? 'unknown',
          stderr,
          report: readFileSync(file, 'latin1').slice(plan.length),
        });
      });
    });
  }

  it('is performed by the helper', async () => {
    const { end, stderr, report } = await perform(real);
    expect({ end, stderr, isReported: report.includes('"end":{"code":0') }).toEqual({
      end: 0,
      stderr: 'banner\n',
      isReported: true,
    });
  });

  it('never crashes nor hangs the helper, however damaged', { timeout: 240_000 }, async () => {
    const lists = fc.sample(mutations, 250);
    const wrong: unknown[] = [];
    let isRefused = 0;
    for (const list of lists) {
      const outcome = await perform(mutatePlan(real, list));
      if (outcome.end === 125) isRefused += 1;
      if (typeof outcome.end === 'string' || SANITIZER_ALARM.test(outcome.stderr))
        wrong.push({ list, outcome });
    }
    expect(wrong).toEqual([]);
    expect(isRefused).toBeGreaterThan(50);
  });
});
