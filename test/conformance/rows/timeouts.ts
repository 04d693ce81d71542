import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'vitest';

import { timesOut } from '../expectations.ts';
import { evading } from '../python.ts';
import type { Kit, Row, Seen } from '../row.ts';

const LIMIT_MS = 2000;
const AT_REST_MS = 400;

/** For a program that has to get somewhere first. */
const limitFor = ({ slowness }: Pick<Kit, 'slowness'>): number => LIMIT_MS * Math.min(slowness, 4);
const enough = (kit: Kit) => ({ limits: { wallMs: limitFor(kit) } });

/** A child that still lived would still write. */
export async function isStill({ sandbox }: Pick<Seen, 'sandbox'>): Promise<void> {
  const sizeOf = async (): Promise<number> => (await sandbox.fs.stat('beat')).sizeBytes;
  const before = await sizeOf();
  await sleep(AT_REST_MS);
  expect(await sizeOf(), 'something in the sandbox still writes').toBe(before);
}

export const TIMEOUT_ROWS: Row[] = [
  {
    group: 'timeouts',
    name: 'ends a program that sleeps, and keeps what it has printed',
    language: 'python',
    options: enough,
    code: `import sys, time
print('before', flush=True)
time.sleep(1000)
`,
    check: (seen) => {
      timesOut(limitFor)(seen);
      expect(seen.out).toBe('before\n');
      expect(seen.result.exitCode).toBe(124);
      expect(seen.result.durationMs).toBeGreaterThanOrEqual(limitFor(seen.kit) - 50);
      expect(seen.result.durationMs).toBeLessThan(limitFor(seen.kit) + 5000 * seen.kit.slowness);
    },
  },
  {
    group: 'timeouts',
    name: 'ends a program that spins',
    language: 'javascript',
    options: { limits: { wallMs: LIMIT_MS } },
    code: `console.log('before'); for (;;);`,
    check: timesOut(() => LIMIT_MS),
  },
  {
    group: 'timeouts',
    name: 'ends a tree that forks twice, leaves its group, ignores signals and stops itself',
    language: 'python',
    needs: ['processes', 'files', 'signals'],
    isAlone: true,
    options: enough,
    code: ({ token }) => `${evading(token)}time.sleep(1000)\n`,
    check: async (seen) => {
      timesOut(limitFor)(seen);
      expect(seen.out).toBe('started\n');
      await isStill(seen);
    },
  },
  {
    group: 'timeouts',
    name: 'ends what a program leaves behind when it ends itself',
    language: 'python',
    needs: ['processes', 'files', 'signals'],
    isAlone: true,
    code: ({ token }) => evading(token),
    check: async (seen) => {
      expect(seen.result.outcome).toEqual({ kind: 'exited', exitCode: 0 });
      await isStill(seen);
    },
  },
  {
    group: 'timeouts',
    name: 'takes the smaller of two limits',
    needs: ['python'],
    async act(kit) {
      const sandbox = await kit.open({ limits: { wallMs: LIMIT_MS } });
      const program = { language: 'python', code: 'import time; time.sleep(1000)' } as const;
      const { outcome } = await kit.run(sandbox, program, { limits: { wallMs: 600_000 } });
      expect(outcome).toEqual({ kind: 'timeout', limitMs: LIMIT_MS });
    },
  },
  {
    group: 'timeouts',
    name: 'leaves a sandbox usable after a timeout',
    needs: ['python', 'files'],
    async act(kit) {
      const sandbox = await kit.open();
      const code = `open('/workspace/kept', 'w').write('kept')
import time; time.sleep(1000)`;
      const late = await kit.run(sandbox, { language: 'python', code }, enough(kit));
      expect(late.outcome.kind).toBe('timeout');
      const again = await kit.run(sandbox, {
        language: 'python',
        code: `print(open('/workspace/kept').read())`,
      });
      expect(Buffer.from(again.stdout).toString()).toBe('kept\n');
    },
  },
];
