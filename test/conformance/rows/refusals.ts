import { expect } from 'vitest';

import { SandboxError } from '../../../src/backends/sandbox-error.ts';
import { KERNELS, LIMIT_NAMES, type SandboxSpec } from '../../../src/backends/spec.ts';
import { leavesNoMore } from '../expectations.ts';
import type { Kit, Row } from '../row.ts';

/** As a limit of anything, so that what refuses it is that it cannot be kept. */
const PLAUSIBLE = 2_000_000;

async function refuse(kit: Kit, spec: SandboxSpec): Promise<SandboxError> {
  const error = await leavesNoMore(
    kit,
    async (): Promise<unknown> =>
      await kit.open(spec).then(
        () => new Error('nothing was thrown'),
        (thrown: unknown) => thrown,
      ),
  );
  expect(SandboxError.is(error), String(error)).toBe(true);
  return error as SandboxError;
}

/** Everything that this backend says it cannot give. */
function askTooMuch({ report }: Kit): { spec: SandboxSpec; items: string[] } {
  const { guarantees } = report;
  const missing = LIMIT_NAMES.filter((name) => guarantees.limits[name] === 'none');
  const stronger = KERNELS.at(KERNELS.indexOf(guarantees.kernel) + 1);
  const items = missing.map((name) => `limits.${name}`);
  if (!guarantees.hasImages) items.push('image');
  if (!guarantees.hasModuleList) items.push('modules');
  if (!guarantees.hasEvalSwitch) items.push('canEval');
  if (guarantees.network === 'none') items.push('network');
  if (stronger) items.push('require.kernel');
  const spec: SandboxSpec = {
    limits: Object.fromEntries(missing.map((name) => [name, PLAUSIBLE])),
    ...(guarantees.hasImages ? {} : { image: 'example.org/image' }),
    ...(guarantees.hasModuleList ? {} : { modules: ['json'] }),
    ...(guarantees.hasEvalSwitch ? {} : { canEval: false }),
    ...(guarantees.network === 'none' ? { network: { allow: ['example.org:443'] } } : {}),
    ...(stronger ? { require: { kernel: stronger } } : {}),
  };
  return { spec, items };
}

export const REFUSAL_ROWS: Row[] = [
  {
    group: 'refusals',
    name: 'lists each thing that it cannot guarantee, before anything runs',
    async act(kit) {
      const { spec, items } = askTooMuch(kit);
      const { code, unmet } = await refuse(kit, spec);
      expect(code).toBe('policy_unenforceable');
      expect(unmet.map(({ item }) => item).toSorted()).toEqual(items.toSorted());
      expect(unmet.every(({ reason }) => reason.length > 5)).toBe(true);
    },
  },
  {
    group: 'refusals',
    name: 'refuses soft limits where hard ones are required',
    async act(kit) {
      const { limits } = kit.report.guarantees;
      const soft = LIMIT_NAMES.filter((name) => limits[name] === 'soft');
      const hard = LIMIT_NAMES.filter((name) => limits[name] === 'hard');
      if (soft.length > 0) {
        const asked = Object.fromEntries(soft.map((name) => [name, PLAUSIBLE]));
        const { code, unmet } = await refuse(kit, { limits: asked, require: { hardLimits: true } });
        expect(code).toBe('policy_unenforceable');
        expect(unmet.map(({ item }) => item)).toEqual(soft.map((name) => `limits.${name}`));
      }
      const kept = Object.fromEntries(
        hard
          .filter((name) => name === 'wallMs' || name === 'outputBytes')
          .map((name) => [name, 60_000]),
      );
      const sandbox = await kit.open({ limits: kept, require: { hardLimits: true } });
      expect((await kit.run(sandbox, kit.printing('x'))).isOk).toBe(true);
    },
  },
  {
    group: 'refusals',
    name: 'refuses limits that are no limits',
    async act(kit) {
      for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5]) {
        expect((await refuse(kit, { limits: { wallMs: value } })).code, String(value)).toBe(
          'limit_invalid',
        );
      }
      const sandbox = await kit.open();
      const error: unknown = await kit
        .run(sandbox, kit.printing('x'), { limits: { wallMs: 0 } })
        .catch((thrown: unknown) => thrown);
      expect(SandboxError.is(error) && error.code).toBe('limit_invalid');
    },
  },
  {
    group: 'refusals',
    name: 'refuses network rules that it cannot read',
    needs: ['network'],
    async act(kit) {
      const { code } = await refuse(kit, { network: { allow: ['not a host'] } });
      expect(code).toBe('policy_invalid');
    },
  },
  {
    group: 'refusals',
    name: 'refuses a workspace that is not there',
    needs: ['copy'],
    async act(kit) {
      const host = `${kit.world.base}/no-such-directory`;
      expect((await refuse(kit, { workspace: { host, mode: 'copy' } })).code).toBe('path_invalid');
    },
  },
  {
    group: 'refusals',
    name: 'refuses a directory to start in that leads out',
    async act(kit) {
      const sandbox = await kit.open();
      for (const cwd of ['..', '/etc', 'a/../..']) {
        const error: unknown = await kit
          .run(sandbox, kit.printing('x'), { cwd })
          .catch((thrown: unknown) => thrown);
        expect(
          SandboxError.is(error) && ['path_denied', 'path_invalid'].includes(error.code),
          cwd,
        ).toBe(true);
      }
    },
  },
  {
    group: 'refusals',
    name: 'says how to get its engine where that is missing',
    async act(kit) {
      expect(kit.makeUnavailable, 'makeUnavailable of defineConformance()').toBeDefined();
      const backend = await kit.makeUnavailable?.();
      const report = await backend?.probe();
      expect(report?.isAvailable).toBe(false);
      expect(report?.reasons.join('')).not.toBe('');
      const error: unknown = await backend?.create({}).catch((thrown: unknown) => thrown);
      expect(SandboxError.is(error) && error.code).toBe('backend_unavailable');
      expect(SandboxError.is(error) && error.hint).toBeTruthy();
    },
  },
  {
    group: 'refusals',
    name: 'probes without a change, and says languages and guarantees',
    async act(kit) {
      const report = await leavesNoMore(kit, async () => await kit.backend.probe());
      expect(report).toMatchObject({ id: kit.id, isAvailable: true });
      expect(report.engine).toBeTruthy();
      expect(Object.keys(report.languages).length).toBeGreaterThan(0);
    },
  },
];
