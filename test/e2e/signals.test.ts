import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { fixture, PYTHON, runAssay, runScript } from './run-assay.ts';

describeForEachPerson('signals', (person) => {
  const makePlace = usePlaces(person);

  it.each(['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGQUIT'] as const)(
    '%s is passed on to the program, once',
    async (signal) => {
      const sent = { is: false };
      const outcome = await runAssay({
        place: makePlace(),
        flags: ['--quiet'],
        command: [PYTHON, '-c', fixture('catch-signals.py'), signal],
        onOutput: (text, child) => {
          if (sent.is || !text.includes('ready')) return;
          sent.is = true;
          child.kill(signal);
        },
      });
      expect(outcome).toMatchObject({ code: 7, stdout: `ready\ngot ${signal}\n` });
    },
  );

  it('a program that does not handle one dies of it, and its exit code says so', async () => {
    const outcome = await runScript(makePlace(), 'echo ready; exec sleep 60', {
      onOutput: (_, child) => void child.kill('SIGTERM'),
    });
    expect(outcome).toMatchObject({ code: 143, signal: null });
  });

  it('start out unblocked and with their default action', async () => {
    const { stdout } = await runScript(makePlace(), 'cat /proc/self/status');
    expect(stdout.match(/^Sig(Blk|Ign|Cgt):\t0{16}$/gm)).toHaveLength(3);
  });

  it('do not reach processes outside', async () => {
    const script = `kill -0 ${process.pid}; echo $?; kill -TERM ${process.pid}; echo $?; kill -0 $PPID`;
    const { stdout } = await runScript(makePlace(), script);
    expect(stdout).toBe('1\n1\n');
  });
});
