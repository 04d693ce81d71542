import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  formatAttackReport,
  formatVerdict,
  makeSelftestReport,
} from '../../src/cli/selftest-table.ts';
import { loadRunPolicy } from '../../src/cli/load-run-policy.ts';
import type { Attack } from '../../src/launch/selftest/attack.ts';
import { ATTACKS } from '../../src/launch/selftest/attacks.ts';
import { isAllowed, type StagePolicy } from '../../src/launch/selftest/judge.ts';
import {
  type AttackReport,
  choosePreset,
  Selftest,
  type SelftestOptions,
} from '../../src/launch/selftest/selftest.ts';
import type { Policy } from '../../src/policy/policy.ts';

const ASSAY = join(import.meta.dirname, '../../bin/assay.js');

/** A sandbox that does nothing: drops its own flags and runs the command. */
const NO_SANDBOX = [
  '/bin/sh',
  '-c',
  'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
  'fake',
];

let home = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(homedir(), '.assay-selftest-home-')));
  vi.stubEnv('HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

function pick(...ids: string[]): Attack[] {
  return ATTACKS.filter(({ id }) => ids.includes(id));
}

function loadPolicy(_: Attack, workdir: string, preset?: string): Promise<StagePolicy> {
  const variables = { cwd: workdir, home, tmpdir: '/tmp/assay-0-0', user: 'ada' };
  return loadRunPolicy({ preset }, variables).then((policy) => ({ policy, variables }));
}

async function attack(
  attacks: readonly Attack[],
  options: Partial<SelftestOptions> = {},
): Promise<AttackReport[]> {
  const selftest = new Selftest({
    attacks,
    assay: NO_SANDBOX,
    flags: [],
    hasOwnPolicy: false,
    loadPolicy,
    ...options,
  });
  try {
    return await selftest.run();
  } finally {
    await selftest.close();
  }
}

function resultsOf(reports: readonly AttackReport[]): Record<string, string> {
  return Object.fromEntries(reports.map(({ id, result }) => [id, result]));
}

const QUICK = [
  'read-outside',
  'write-outside',
  'env-secret',
  'kill-outside',
  'tcp-loopback',
  'unix-path',
  'leave-tmp',
];

describe('the attacks', () => {
  it('are many, of every class, each under its own name', () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(ATTACKS.map(({ id }) => id)).size).toBe(ATTACKS.length);
    expect(new Set(ATTACKS.map((one) => one.class)).size).toBe(11);
  });
});

describe('Selftest', () => {
  it('sees attacks get through a sandbox that does not hold, and leaves nothing behind', async () => {
    const reports = await attack(pick(...QUICK));
    expect(resultsOf(reports)).toEqual(Object.fromEntries(QUICK.map((id) => [id, 'got through'])));
    expect(readdirSync(home)).toEqual([]);
    const own = `assay-selftest-${process.pid}-`;
    expect(readdirSync('/tmp').filter((name) => name.startsWith(own))).toEqual([]);
  });

  it('does not take a program that never started for one that was held', async () => {
    const [report] = await attack(pick('read-outside'), {
      assay: ['/bin/sh', '-c', 'echo "error: no sandbox" >&2; exit 3'],
    });
    expect(report).toMatchObject({ control: 'succeeds', result: 'not run' });
    expect(report?.reason).toContain('did not start inside: error: no sandbox');
  });

  it('names the error and no warning, and takes what the limit of time has ended for begun', async () => {
    const say = (text: string, code: number): readonly string[] => [
      '/bin/sh',
      '-c',
      `printf '%s\\n' 'WARN: fs is not enforced: it cannot be' '${text}' >&2; exit ${code}`,
    ];
    const [failed] = await attack(pick('exhaust-time'), {
      assay: say('ERROR: E_X: no helper', 125),
    });
    expect(failed).toMatchObject({ result: 'not run' });
    expect(failed?.reason).toBe('the program did not start inside: ERROR: E_X: no helper');
    const [silent] = await attack(pick('exhaust-time'), { assay: say('', 1) });
    expect(silent?.reason).toBe('the program did not start inside');
    const [slow] = await attack(pick('exhaust-time'), { assay: say('TIMEOUT: 1s', 124) });
    expect(slow).toMatchObject({ result: 'held', reason: '' });
  });

  it('does not run an attack that fails without the sandbox, and says why', async () => {
    const [base] = pick('read-outside');
    const broken = {
      ...(base as Attack),
      program: 'throw new Error("no");',
      vacuous: 'it is broken',
    };
    const [report] = await attack([broken]);
    expect(report).toMatchObject({
      control: 'fails',
      result: 'not run',
      reason: 'proves nothing here: it is broken',
    });
  });

  it('calls it allowed, not a failure, when the policy lets it happen', async () => {
    const allowing = async (one: Attack, workdir: string): Promise<StagePolicy> => {
      const { policy, variables } = await loadPolicy(one, workdir);
      const rule = {
        effect: 'allow',
        rights: ['read'],
        pattern: home,
        origin: { source: 't', key: 'fs.read', text: home },
      } as const;
      return { policy: { ...policy, fs: [...policy.fs, rule] }, variables };
    };
    const reports = await attack(pick('read-outside', 'write-outside'), { loadPolicy: allowing });
    expect(resultsOf(reports)).toEqual({
      'read-outside': 'allowed by policy',
      'write-outside': 'got through',
    });
  });

  it('removes what a selftest that was killed left behind, and nothing of a living one', async () => {
    const dead = join(home, '.assay-selftest-999999999-x');
    const living = join(home, `.assay-selftest-${process.pid}-x`);
    mkdirSync(dead);
    mkdirSync(living);
    await attack([]);
    expect(existsSync(dead)).toBe(false);
    expect(existsSync(living)).toBe(true);
  });

  it('lets the workspace be written for the attacks that need it, unless the user brings a policy', () => {
    const [hook] = pick('config-git-hook');
    const [read] = pick('read-outside');
    expect(choosePreset(hook as Attack, false)).toBe('coding-agent');
    expect(choosePreset(hook as Attack, true)).toBeUndefined();
    expect(choosePreset(read as Attack, false)).toBeUndefined();
  });
});

describe('isAllowed()', () => {
  const stage = async (change: Partial<Policy>): Promise<StagePolicy> => {
    const { policy, variables } = await loadPolicy(ATTACKS[0] as Attack, '/work');
    return { policy: { ...policy, ...change }, variables };
  };

  it('means the network of the host, which allowing loopback does not grant', async () => {
    const origin = { source: 't', key: 'net.allow', text: '*' };
    expect(isAllowed({ kind: 'network' }, await stage({}))).toBe(false);
    const open = await stage({ net: [{ effect: 'allow', text: '*', origin }] });
    expect(isAllowed({ kind: 'network' }, open)).toBe(true);
  });

  it('knows an environment that is passed through', async () => {
    const { policy } = await stage({});
    expect(isAllowed({ kind: 'environment' }, await stage({}))).toBe(false);
    const open = await stage({ env: { ...policy.env, mode: 'passthrough' } });
    expect(isAllowed({ kind: 'environment' }, open)).toBe(true);
  });
});

describe('the table', () => {
  const report: AttackReport = {
    id: 'x',
    title: 'do x',
    class: 'read',
    control: 'succeeds',
    result: 'got through',
    reason: '',
  };

  it('shouts when something got through', () => {
    expect(formatAttackReport(report)).toMatch(/^x +do x +succeeds +GOT THROUGH$/);
  });

  it('counts', () => {
    const { counts } = makeSelftestReport('p', [report, { ...report, result: 'held' }]);
    expect(formatVerdict(counts)).toBe('1 held, 1 got through, 0 not run');
  });
});

describe.skipIf(!existsSync(ASSAY))('against the real sandbox', () => {
  it('every attack that can be run is held', { timeout: 120_000 }, async () => {
    const reports = await attack(ATTACKS, { assay: [process.execPath, ASSAY, 'sandbox'] });
    expect(reports.filter(({ result }) => result === 'got through')).toEqual([]);
    expect(reports.filter(({ result }) => result === 'held').length).toBeGreaterThanOrEqual(20);
    const notStarted = reports.filter(({ reason }) => reason.includes('did not start'));
    expect(notStarted).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });
});
