import { afterEach, expect, it, vi } from 'vitest';
import { guessFacts } from '../../src/host/guess-facts.ts';
import { EarlyHelper } from '../../src/launch/early-helper.ts';
import { readHostTree } from '../../src/launch/host-tree.ts';
import { runSandbox } from '../../src/launch/run.ts';
import { scopedTmpPath } from '../../src/launch/scoped-tmp.ts';
import { ALL_LAYERS } from '../../src/plan/layers.ts';
import { resolvePolicy } from '../../src/policy/combine.ts';

const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGTSTP'];

function countListeners(): number[] {
  return SIGNALS.map((name) => process.listenerCount(name));
}

afterEach(() => void vi.restoreAllMocks());

it('assay hears every signal before a program can start, and none afterwards', async () => {
  const before = countListeners();
  const { mock: heard } = vi.spyOn(process, 'on');
  const { mock: released } = vi.spyOn(EarlyHelper.prototype, 'release');
  const variables = {
    cwd: '/',
    home: '/',
    tmpdir: scopedTmpPath(process.getuid?.() ?? 0, process.pid),
    user: 'tester',
  };
  const { exitCode } = await runSandbox({
    argv: ['/bin/sh', '-c', 'exit 7'],
    env: [],
    policy: resolvePolicy({ variables }),
    variables,
    host: guessFacts(),
    tree: readHostTree(),
    choice: ALL_LAYERS,
    announce: () => '',
  });
  expect(exitCode).toBe(7);
  expect(released.calls).toHaveLength(1);
  const [end = 0] = released.invocationCallOrder;
  const names = heard.calls.filter((_, at) => (heard.invocationCallOrder[at] ?? end) < end);
  expect(names.map(([name]) => name)).toEqual(expect.arrayContaining(SIGNALS));
  expect(countListeners()).toEqual(before);
});
