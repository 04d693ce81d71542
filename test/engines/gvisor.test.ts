import * as fs from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { createGvisorBackend } from '../../src/backends/gvisor/gvisor-backend.ts';
import { dockerEndpoints } from './docker.ts';

const GROUPS = '/sys/fs/cgroup';

/** Lines such as `nr_throttled 12` of the group of a sandbox that this process has made, wherever it is. */
function readThrottled(): number {
  const places = [GROUPS, join(GROUPS, 'cpu'), join(GROUPS, 'cpu,cpuacct')];
  const files = places.flatMap((place) =>
    fs.existsSync(place)
      ? fs
          .readdirSync(place)
          .filter((name) => name.startsWith(`assay-container-${process.pid}.`))
          .map((name) => join(place, name, 'cpu.stat'))
      : [],
  );
  expect(files.length).toBeGreaterThan(0);
  const text = files.map((file) => fs.readFileSync(file, 'latin1')).join('\n');
  return Number(/nr_throttled (\d+)/.exec(text)?.[1] ?? 0);
}

describe('gVisor without an engine', () => {
  it('keeps a sandbox to its share of the processors', { timeout: 60_000 }, async (context) => {
    const backend = createGvisorBackend({ way: 'direct' });
    const { isAvailable, reasons, guarantees } = await backend.probe();
    if (!isAvailable) context.skip(`gvisor is not available: ${reasons.join('; ')}`);
    if (guarantees.limits.cpus === 'none') context.skip("control groups are root's");
    await using sandbox = await backend.create({ limits: { cpus: 0.25 } });
    let throttled = 0;
    const running = sandbox.exec(['python3', '-c', 'while True: pass'], {
      limits: { wallMs: 2500 },
    });
    const timer = setInterval(() => (throttled = readThrottled()), 200);
    await running.finally(() => clearInterval(timer));
    expect(throttled).toBeGreaterThan(3);
  });

  it('says how to get it where there is neither', async () => {
    const findRunsc = async () => ({ problem: 'runsc is not installed', hint: 'npm run engines' });
    const backend = createGvisorBackend({ endpoints: { list: [] }, findRunsc });
    const { isAvailable, reasons, hint } = await backend.probe();
    expect(isAvailable).toBe(false);
    expect(reasons.join('; ')).toMatch(
      /runsc is not installed.*there is no socket|there is no socket.*runsc is not/,
    );
    expect(hint).toBeTruthy();
  });

  it('takes an engine where an image is asked for', { timeout: 60_000 }, async (context) => {
    const endpoints = dockerEndpoints();
    const backend = createGvisorBackend({ endpoints });
    const byEngine = await createGvisorBackend({ endpoints, way: 'engine' }).probe();
    if (!byEngine.isAvailable) context.skip(byEngine.reasons.join('; '));
    const error: unknown = await backend
      .create({ image: 'example.org/no-such-image:1' })
      .catch((thrown: unknown) => thrown);
    expect((error as { code?: unknown }).code).toBe('image_unavailable');
  });
});
