import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { makeMark, waitUntilGone } from './processes.ts';
import { ASSAY, fixture, fixturePath, PYTHON, runBare } from './run-assay.ts';

type Step = readonly [string, ...(string | number)[]];

interface Session {
  readonly shown: string;
  readonly code: number;
  readonly problem: string | null;
  readonly areModesKept: boolean;
}

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_Z = '\x1a';
const CTRL_BACKSLASH = '\x1c';

async function playOnTerminal(
  place: Place,
  steps: readonly Step[],
  command: readonly string[],
): Promise<Session> {
  const script = steps.map((step) => JSON.stringify(step)).join('\n');
  const { stdout, stderr } = await runBare({
    place,
    command: [PYTHON, fixturePath('on-pty.py'), script, ...command],
    env: { TERM: 'xterm', PS1: '$ ' },
  });
  if (!stdout) throw new Error(`The terminal did not report: ${stderr}`);
  return JSON.parse(stdout) as Session;
}

/** Says that it runs in words that typing it does not show. */
const WAITING = `sh -c 'echo waiting-$((1+1)); exec sleep 60'`;
const QUIET = [ASSAY, 'sandbox', '--quiet'];

const SHELL = ['/bin/bash', '--norc', '-i'];

/** What a person does to stop a command of that shell which says that it is ready. */
const startAndStop = (command: string): Step[] => [
  ['wait', '$ '],
  ['type', `${command}\n`],
  ['wait', 'ready\r\n'],
  ['type', CTRL_Z],
];

const LAYERS = [
  ['every layer', []],
  ['no namespaces', ['--layers=-user,-mount,-pid,-net,-ipc']],
] as const;

describeForEachPerson('on a terminal', (person) => {
  const makePlace = usePlaces(person);

  it.each(LAYERS)('the program has it: tty, /dev/tty, size, with %s', async (_, flags) => {
    const script =
      'tty; test -t 0 -a -t 1 -a -t 2 && echo is-terminal; echo to-tty > /dev/tty; read line < /dev/tty; echo "read $line"; stty size';
    const session = await playOnTerminal(
      makePlace(),
      [
        ['resize', 33, 99],
        ['wait', 'to-tty'],
        ['type', 'hello\n'],
      ],
      [...QUIET, ...flags, '--', 'sh', '-c', script],
    );
    expect(session).toMatchObject({ problem: null, code: 0 });
    expect(session.shown).toContain('is-terminal');
    expect(session.shown).toContain('read hello');
    expect(session.shown).toContain('33 99');
  });

  it('Ctrl-C ends the program, not before it has cleaned up', async () => {
    const session = await playOnTerminal(
      makePlace(),
      [
        ['wait', 'ready'],
        ['type', CTRL_C],
        ['wait', 'cleaned'],
      ],
      [
        ...QUIET,
        '--',
        'sh',
        '-c',
        'trap "echo cleaned; exit 9" INT; echo ready; while :; do sleep 0.1; done',
      ],
    );
    expect(session).toMatchObject({ problem: null, code: 9 });
    expect(session.shown.match(/cleaned/g)).toHaveLength(1);
  });

  it('Ctrl-C and Ctrl-\\ give 130 and 131 when the program does not handle them', async () => {
    for (const [key, code] of [
      [CTRL_C, 130],
      [CTRL_BACKSLASH, 131],
    ] as const) {
      const session = await playOnTerminal(
        makePlace(),
        [
          ['wait', 'ready'],
          ['type', key],
        ],
        [...QUIET, '--', 'sh', '-c', 'echo ready; exec sleep 60'],
      );
      expect(session).toMatchObject({ problem: null, code });
    }
  });

  it('a program that ignores Ctrl-C goes on, and so does assay', async () => {
    const session = await playOnTerminal(
      makePlace(),
      [
        ['wait', 'ready'],
        ['type', CTRL_C],
        ['type', CTRL_C],
        ['type', 'go on\n'],
        ['wait', 'got go on'],
      ],
      [...QUIET, '--', 'sh', '-c', 'trap "" INT; echo ready; read line; echo "got $line"; exit 4'],
    );
    expect(session).toMatchObject({ problem: null, code: 4 });
  });

  it.each(LAYERS)('Ctrl-C while a run starts is not lost, with %s', async (_, flags) => {
    const start = [...QUIET, ...flags, '--', 'sleep', '60'];
    const { stdout, stderr } = await runBare({
      place: makePlace(),
      command: [PYTHON, fixturePath('interrupt-start.py'), '15', ...start],
      env: { TERM: 'xterm' },
    });
    expect(stderr).toBe('');
    // Either assay itself was ended by it, or the program was and assay says so.
    const ways = Object.keys(JSON.parse(stdout) as Record<string, number>);
    expect(ways.filter((way) => way !== '130' && way !== '-2')).toEqual([]);
  });

  it.each(LAYERS)('Ctrl-Z stops the whole job and fg brings it back, with %s', async (_, flags) => {
    const command = `"${ASSAY}" sandbox --quiet ${flags.join(' ')} -- sh -c 'echo ready; read line; echo "got $line"; exit 6'`;
    const session = await playOnTerminal(
      makePlace(),
      [
        ...startAndStop(command),
        ['wait', 'Stopped'],
        ['wait', '$ '],
        ['type', 'echo shell-has-$((40+2))\n'],
        ['wait', 'shell-has-42'],
        ['wait', '$ '],
        ['type', 'fg\n'],
        ['wait', 'read line'],
        ['type', 'again\n'],
        ['wait', 'got again'],
        ['wait', '$ '],
        ['type', 'echo code=$?\n'],
        ['wait', 'code=6'],
        ['wait', '$ '],
        ['type', 'exit 0\n'],
      ],
      SHELL,
    );
    expect(session).toMatchObject({ problem: null, code: 0 });
  });

  it.each(LAYERS)(
    'a program has time to tidy up before Ctrl-Z stops it, with %s',
    async (_, flags) => {
      const command = `"${ASSAY}" sandbox --quiet ${flags.join(' ')} -- ${PYTHON} -c "$(cat "${fixturePath('slow-to-stop.py')}")"`;
      const session = await playOnTerminal(
        makePlace(),
        [
          ...startAndStop(command),
          ['wait', 'tidied\r\n'],
          ['wait', 'Stopped'],
          ['wait', '$ '],
          ['type', 'fg\n'],
          ['wait', 'back\r\n'],
          ['type', 'again\n'],
          ['wait', 'got again'],
          ['wait', '$ '],
          ['type', 'exit 0\n'],
        ],
        SHELL,
      );
      expect(session).toMatchObject({ problem: null, code: 0 });
    },
  );

  it('a program that ignores Ctrl-Z goes on, and so does assay', async () => {
    const session = await playOnTerminal(
      makePlace(),
      [
        ...startAndStop(
          `"${ASSAY}" sandbox --quiet -- sh -c 'trap "" TSTP; echo ready; read line; echo "got $line"'`,
        ),
        ['type', 'go on\n'],
        ['wait', 'got go on'],
        ['wait', '$ '],
        ['type', 'exit 0\n'],
      ],
      SHELL,
    );
    expect(session).toMatchObject({ problem: null, code: 0 });
    expect(session.shown).not.toContain('Stopped');
  });

  it('a job stopped by Ctrl-Z goes on in the background with bg', async () => {
    const place = makePlace();
    const session = await playOnTerminal(
      place,
      [
        ...startAndStop(
          `"${ASSAY}" sandbox --quiet --preset coding-agent -- sh -c 'echo ready; while ! test -e go; do :; done; echo went > went'`,
        ),
        ['wait', 'Stopped'],
        ['wait', '$ '],
        ['type', 'bg\n'],
        ['wait', '$ '],
        ['type', 'touch go; wait; cat went; exit 0\n'],
        ['wait', '\r\nwent'],
      ],
      SHELL,
    );
    expect(session).toMatchObject({ problem: null, code: 0 });
  });

  it.each(LAYERS)(
    'an interactive shell inside has job control of its own, with %s',
    async (_, flags) => {
      const session = await playOnTerminal(
        makePlace(),
        [
          ['wait', 'bash-'],
          ['type', `${WAITING}\n`],
          ['wait', 'waiting-2'],
          ['type', CTRL_Z],
          ['wait', 'Stopped'],
          ['wait', 'bash-'],
          ['type', 'jobs; echo listed-$((1+1))\n'],
          ['wait', 'Stopped'],
          ['wait', 'listed-2'],
          ['wait', 'bash-'],
          ['type', 'kill %1; wait; echo killed-$((1+1))\n'],
          ['wait', 'killed-2'],
          ['wait', 'bash-'],
          ['type', `${WAITING}\n`],
          ['wait', 'waiting-2'],
          ['type', CTRL_C],
          ['wait', 'bash-'],
          ['type', 'echo code=$?\n'],
          ['wait', 'code=130'],
          ['wait', 'bash-'],
          ['type', CTRL_D],
        ],
        [...QUIET, ...flags, '--', '/bin/bash', '--norc', '-i'],
      );
      expect(session).toMatchObject({ problem: null });
      expect(session.shown).not.toContain('no job control');
    },
  );

  it('the program hears of a new size', async () => {
    const session = await playOnTerminal(
      makePlace(),
      [
        ['wait', 'size '],
        ['resize', 17, 71],
        ['wait', 'size 17x71'],
        ['type', '\n'],
      ],
      [...QUIET, '--', PYTHON, '-c', fixture('window-size.py')],
    );
    expect(session).toMatchObject({ problem: null, code: 0 });
  });

  it('raw mode is undone when the program is killed in it', async () => {
    const session = await playOnTerminal(
      makePlace(),
      [['wait', 'in raw mode']],
      [
        '/bin/sh',
        '-c',
        `${QUIET.join(' ')} -- ${PYTHON} -c "$1"; stty -a; exit 0`,
        'sh',
        fixture('raw-mode.py'),
      ],
    );
    expect(session).toMatchObject({ problem: null, code: 0 });
    expect(session.shown).toMatch(/\bicanon\b/);
    expect(session.shown).not.toMatch(/-icanon|-echo\b/);
  });

  it('when it goes away, nothing of the tree stays', async () => {
    const mark = makeMark();
    const session = await playOnTerminal(
      makePlace(),
      [
        ['wait', 'ready'],
        ['kill', 'SIGHUP'],
      ],
      [...QUIET, '--', 'sh', '-c', 'setsid sleep 300 & echo ready; sleep 300', mark],
    );
    expect(session).toMatchObject({ problem: null, code: 129 });
    expect(await waitUntilGone(mark)).toEqual([]);
  });

  it('a run without one says so as outside', async () => {
    const place = makePlace();
    const script = `setsid -w "${ASSAY}" sandbox --quiet -- sh -c 'tty; cat /dev/tty'`;
    const { stdout, stderr, code } = await runBare({ place, command: ['/bin/sh', '-c', script] });
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'not a tty\n' });
    expect(stderr).toContain('No such device or address');
  });
});
