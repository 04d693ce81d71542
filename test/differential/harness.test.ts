import { afterAll, describe, expect, it } from 'vitest';

import { listDifferences } from './difference.ts';
import { runWorkload } from './run.ts';
import type { Outcome, Runner } from './workload.ts';
import { Workspace } from './workspace.ts';

const SELF: Runner = {
  name: process.getuid?.() === 0 ? 'root' : 'user',
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
};

describe('runWorkload()', () => {
  const workspace = new Workspace(SELF);
  afterAll(() => workspace.close());

  const run = (script: string, place: 'bare' | 'inside'): Promise<Outcome> =>
    runWorkload({
      workload: { name: 'probe', files: [], command: ['/bin/sh', '-c', script] },
      workspace,
      runner: SELF,
      place,
    });

  it('runs outside a sandbox when bare and inside one when not', async () => {
    const script = `grep -c '^NoNewPrivs:.1' /proc/self/status; test "$PPID" -lt 5; echo $?`;
    expect((await run(script, 'bare')).stdout).toEqual(['0', '1', '']);
    expect((await run(script, 'inside')).stdout).toEqual(['1', '0', '']);
  });

  it.each([
    ['an exit code', 'exit 1', 'exit 2'],
    ['a printed line', 'echo a', 'echo b'],
    ['an error', 'true', 'echo b >&2'],
    ['the content of a file', 'echo a >f', 'echo b >f'],
    ['the mode of a file', 'umask 022; : >f', 'umask 077; : >f'],
    ['a time that was set', 'touch -d @1 f', 'touch -d @2 f'],
    ['a hard link', ': >f; ln f g', ': >f; : >g'],
    ['the target of a link', 'ln -s a f', 'ln -s b f'],
    ['a file that is missing', ': >f', 'true'],
  ])('tells %s apart', async (_what, first, second) => {
    const outcome = await run(first, 'bare');
    expect(listDifferences(outcome, await run(first, 'bare'))).toEqual([]);
    expect(listDifferences(outcome, await run(second, 'bare'))).not.toEqual([]);
  });
});
