import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import type { ExecResult, Sandbox } from '../../../src/backends/sandbox.ts';
import { leavesNoMore, SETTLING_MS } from '../expectations.ts';
import { findProcesses } from '../leftovers.ts';
import { evading } from '../python.ts';
import type { Kit, Row } from '../row.ts';
import { isStill } from './timeouts.ts';

const IS_FULL = process.env['ASSAY_CONFORMANCE'] === 'full';
const SEQUENTIAL = IS_FULL ? 200 : 8;
const PARALLEL = IS_FULL ? 20 : 4;
const SLEEPING = { language: 'python', code: 'import time; time.sleep(1000)' } as const;

async function leavesNothing(kit: Kit, action: () => Promise<void>): Promise<void> {
  await warmUp(kit);
  await leavesNoMore(kit, action);
}

/** What a backend loads or starts once, and keeps. */
async function warmUp(kit: Kit): Promise<void> {
  await using sandbox = await kit.backend.create({});
  await kit.run(sandbox, kit.printing('warm'));
}

async function use(kit: Kit, action: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  await using sandbox = await kit.backend.create({});
  await action(sandbox);
}

async function codeOf(action: () => Promise<unknown>): Promise<unknown> {
  try {
    await action();
    return 'nothing was thrown';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

/** A program of its own, that makes sandboxes and is killed. */
async function abandon(kit: Kit): Promise<void> {
  const program = join(import.meta.dirname, '../fixtures/abandon.mjs');
  const child = spawn(process.execPath, [program, kit.id, evading(kit.world.token)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const said = await new Promise<string>((resolve, reject) => {
      let heard = '';
      child.stdout.on('data', (data: Buffer) => {
        heard += data.toString();
        if (heard.includes('started')) resolve(heard);
      });
      child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${heard}`)));
    });
    expect(said).toContain('started');
  } finally {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await ended;
  }
}

const ENDINGS: Row[] = [
  {
    group: 'lifetime',
    name: 'an abort ends everything that the call has started, within a moment',
    needs: ['python', 'processes', 'files', 'signals'],
    async act(kit) {
      const sandbox = await kit.open();
      const abort = new AbortController();
      let abortedAt = 0;
      const code = `${evading(kit.world.token)}time.sleep(1000)\n`;
      const result = await kit.run(
        sandbox,
        { language: 'python', code },
        {
          signal: abort.signal,
          onEvent: (event) => {
            if (event.type !== 'stdout') return;
            abortedAt = performance.now();
            abort.abort();
          },
        },
      );
      expect(performance.now() - abortedAt).toBeLessThan(2000 * kit.slowness);
      expect(result.outcome).toEqual({ kind: 'aborted' });
      expect(result.exitCode).toBe(137);
      expect(Buffer.from(result.stdout).toString()).toBe('started\n');
      await isStill({ sandbox });
    },
  },
  {
    group: 'lifetime',
    name: 'an abort ends a program that sleeps or spins',
    async act(kit) {
      const sandbox = await kit.open();
      const program = kit.report.languages.javascript
        ? ({ language: 'javascript', code: 'for (;;);' } as const)
        : SLEEPING;
      const { outcome } = await kit.run(sandbox, program, { signal: AbortSignal.timeout(1000) });
      expect(outcome).toEqual({ kind: 'aborted' });
      expect((await kit.run(sandbox, kit.printing('again'))).isOk).toBe(true);
    },
  },
  {
    group: 'lifetime',
    name: 'a call that is aborted before it starts runs nothing',
    async act(kit) {
      const sandbox = await kit.open();
      const { outcome, stdout } = await kit.run(sandbox, kit.printing('ran'), {
        signal: AbortSignal.abort(),
      });
      expect(outcome).toEqual({ kind: 'aborted' });
      expect(stdout.length).toBe(0);
    },
  },
  {
    group: 'lifetime',
    name: 'kill() ends the calls that are under way, and the sandbox',
    needs: ['python'],
    async act(kit) {
      const sandbox = await kit.open();
      const running = kit.run(sandbox, SLEEPING);
      await sleep(1500 * Math.min(4, kit.slowness));
      await sandbox.kill();
      expect((await running).outcome).toEqual({ kind: 'aborted' });
      expect(await codeOf(() => sandbox.exec(['true']))).toBe('gone');
      expect(await codeOf(() => sandbox.fs.readFile('x'))).toBe('gone');
      await sandbox.kill();
      await sandbox[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
    },
  },
  {
    group: 'lifetime',
    name: 'a sandbox that was disposed of is gone',
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox[Symbol.asyncDispose]();
      expect(await codeOf(() => sandbox.exec(['true']))).toBe('gone');
      expect(await codeOf(() => sandbox.spawn(['true']))).toBe('gone');
      expect(await codeOf(() => sandbox.changes())).toBe('gone');
      expect(await codeOf(() => sandbox.fs.writeFile('x', 'x'))).toBe('gone');
    },
  },
];

const CLEANUPS: Row[] = [
  {
    group: 'lifetime',
    name: `${SEQUENTIAL} runs one after another leave nothing`,
    seconds: IS_FULL ? 600 : 60,
    async act(kit) {
      await leavesNothing(kit, async () => {
        for (let index = 0; index < SEQUENTIAL; index++)
          await use(kit, async (sandbox) => {
            const { stdout } = await kit.run(sandbox, kit.printing(`run ${index}`));
            expect(Buffer.from(stdout).toString()).toBe(`run ${index}\n`);
          });
      });
    },
  },
  {
    group: 'lifetime',
    name: `${PARALLEL} runs at a time leave nothing`,
    seconds: IS_FULL ? 300 : 60,
    async act(kit) {
      await leavesNothing(kit, async () => {
        const indices = Array.from({ length: PARALLEL }, (_, index) => index);
        const outs = await Promise.all(
          indices.map(async (index) => {
            let out = '';
            await use(kit, async (sandbox) => {
              const { stdout } = await kit.run(sandbox, kit.printing(`run ${index}`));
              out = Buffer.from(stdout).toString();
            });
            return out;
          }),
        );
        expect(outs).toEqual(indices.map((index) => `run ${index}\n`));
      });
    },
  },
  {
    group: 'lifetime',
    name: 'failures, timeouts, aborts and kills leave nothing',
    needs: ['python'],
    seconds: 60,
    async act(kit) {
      await leavesNothing(kit, async () => {
        await use(kit, async (sandbox) => {
          const code = 'raise SystemExit(9)';
          expect((await kit.run(sandbox, { language: 'python', code })).exitCode).toBe(9);
        });
        await use(kit, async (sandbox) => {
          const options = { limits: { wallMs: 1000 } };
          expect((await kit.run(sandbox, SLEEPING, options)).outcome.kind).toBe('timeout');
        });
        await use(kit, async (sandbox) => {
          const options = { signal: AbortSignal.timeout(1000) };
          expect((await kit.run(sandbox, SLEEPING, options)).outcome.kind).toBe('aborted');
        });
        await use(kit, async (sandbox) => {
          const running = kit.run(sandbox, SLEEPING);
          await sleep(1000);
          await sandbox.kill();
          expect((await running).outcome.kind).toBe('aborted');
        });
      });
    },
  },
  {
    group: 'lifetime',
    name: 'dispose() ends what runs',
    needs: ['python'],
    async act(kit) {
      await leavesNothing(kit, async () => {
        const running: Promise<ExecResult>[] = [];
        await use(kit, async (sandbox) => {
          running.push(kit.run(sandbox, SLEEPING));
          await sleep(1000);
        });
        expect((await running[0])?.outcome.kind).toBe('aborted');
      });
    },
  },
  {
    group: 'lifetime',
    name: 'sweep() removes what a killed supervisor has left',
    needs: ['python', 'processes', 'files', 'signals'],
    seconds: 60,
    async act(kit) {
      await leavesNothing(kit, async () => {
        await abandon(kit);
        const { problems } = await kit.backend.sweep();
        expect(problems).toEqual([]);
        const deadline = Date.now() + SETTLING_MS * kit.slowness;
        while (findProcesses(kit.world.token).length > 0 && Date.now() < deadline) await sleep(50);
        expect(findProcesses(kit.world.token)).toEqual([]);
      });
    },
  },
  {
    group: 'lifetime',
    name: 'sweep() leaves what is in use alone',
    async act(kit) {
      const sandbox = await kit.open();
      await sandbox.fs.writeFile('kept', 'kept');
      await kit.backend.sweep();
      expect(Buffer.from(await sandbox.fs.readFile('kept')).toString()).toBe('kept');
      expect((await kit.run(sandbox, kit.printing('alive'))).isOk).toBe(true);
    },
  },
];

export const LIFETIME_ROWS: Row[] = [...ENDINGS, ...CLEANUPS];
