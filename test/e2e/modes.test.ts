import * as fs from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { usePlaces } from './place.ts';
import { PYTHON, readSummary, runAssay, runForSummary } from './run-assay.ts';

describeForEachPerson('modes', (person) => {
  const makePlace = usePlaces(person);

  it('the banner goes to standard error and is true', async () => {
    const place = makePlace();
    const outcome = await runAssay({ place, command: ['echo', 'out'] });
    expect(outcome).toMatchObject({ code: 0, stdout: 'out\n' });
    expect(outcome.stderr.split('\n')[0]).toMatch(/^Assay Sandbox v\d+\.\d+\.\d+$/);
    expect(outcome.stderr).toContain('Backend: Landlock (Containment)');
    expect(outcome.stderr).toContain('FS:  contain\n');
    expect(outcome.stderr).toContain('Policy:  mcp-server-minimal (default)');
    expect(outcome.stderr).toContain(`Workdir: ${place.work}\n`);
    expect(outcome.stderr).toContain(`Tmp:     /tmp/assay-${person.uid}-${outcome.pid}\n`);
    expect(outcome.stderr).not.toContain('Degradations');
  });

  it.each([
    ['--layers=-landlock', 'Backend: Broker'],
    ['--layers=-landlock,-broker', 'Backend: Namespaces'],
    ['--layers=-landlock,-broker,-mount,-user', 'Backend: None (Audit)'],
    ['--layers=-net', 'Net: contain (no network)'],
    ['--layers=-net,-seccomp', 'system calls is not enforced'],
  ])('the banner with %s says %j', async (layers, text) => {
    const { stderr } = await runAssay({ place: makePlace(), flags: [layers], command: ['true'] });
    expect(stderr).toContain(text);
  });

  it('--verbose lists every layer with its status', async () => {
    const { stderr } = await runAssay({
      place: makePlace(),
      flags: ['--verbose', '--layers=-mount'],
      command: ['true'],
    });
    for (const layer of [
      'landlock',
      'seccomp',
      'broker',
      'user',
      'mount',
      'pid',
      'ipc',
      'net',
      'cgroup',
      'rlimits',
    ])
      expect(stderr).toMatch(new RegExp(`^  ${layer} +(enforced|partial|absent)`, 'm'));
    expect(stderr).toMatch(/^ {2}mount +absent \(left out by --layers\)/m);
  });

  it('--quiet says nothing but what is not enforced', async () => {
    expect((await runAssay({ place: makePlace(), flags: ['-q'], command: ['true'] })).stderr).toBe(
      '',
    );
    const { stderr } = await runAssay({
      place: makePlace(),
      flags: ['-q', '--layers=-seccomp'],
      command: ['true'],
    });
    expect(stderr).toContain('is not enforced');
    expect(stderr).not.toContain('Backend');
  });

  it('--json ends with one summary, in a file, a descriptor, or standard error', async () => {
    const place = makePlace();
    const file = place.at('fd.json');
    const fd = fs.openSync(file, 'w');
    try {
      await runAssay({
        place,
        flags: ['-q', '--json', 'fd:3'],
        command: ['sh', '-c', 'exit 7'],
        extra: [fd],
      });
    } finally {
      fs.closeSync(fd);
    }
    expect(readSummary(fs.readFileSync(file, 'utf8')).exitCode).toBe(7);
    const toError = await runAssay({
      place,
      flags: ['-q', '--json', '-'],
      command: ['sh', '-c', 'exit 8'],
    });
    expect(readSummary(toError.stderr).exitCode).toBe(8);
    const { summary } = await runForSummary({ place, command: ['sh', '-c', 'kill -TERM $$'] });
    expect(summary).toMatchObject({
      exitCode: 143,
      signal: 15,
      timedOut: false,
      mode: 'containment',
      network: 'private',
    });
    const timed = await runForSummary({
      place,
      flags: ['--timeout', '300ms'],
      command: ['sleep', '30'],
    });
    expect(timed.summary).toMatchObject({ exitCode: 124, timedOut: true });
    const absent = await runForSummary({ place, command: ['no-such-program'] });
    expect(absent.summary).toMatchObject({
      exitCode: 127,
      execError: expect.stringContaining('ENOENT'),
    });
  });

  it('--json lists what was refused, by path', async () => {
    const place = makePlace();
    place.write('work/.env', 'x');
    const { summary } = await runForSummary({
      place,
      flags: ['--preset', 'coding-agent', '--deny', '.env'],
      command: [
        'sh',
        '-c',
        'cat .env; cat .env; echo x > .npmrc; echo x > /usr/x; echo x > "$HOME/new"; exit 0',
      ],
    });
    const list = summary.refusals.map(({ op, path }) => `${op} ${path}`);
    expect(list).toEqual(
      expect.arrayContaining([
        `read ${place.at('work/.env')}`,
        `write ${place.at('work/.npmrc')}`,
        'write /usr/x',
        `write ${place.at('home/new')}`,
      ]),
    );
    expect(summary.refusalCount).toBeGreaterThanOrEqual(5);
  });

  it('what was refused under the default is one line at the end, with the flag that would allow it', async () => {
    const place = makePlace();
    place.write('home/notes', 'notes');
    const { stderr } = await runAssay({
      place,
      command: ['sh', '-c', 'cat ~/notes 2> /dev/null; echo x > new 2> /dev/null'],
    });
    const lines = stderr.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('assay: '))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/--allow-(read ~\/notes|write \. )/);
  });

  it.each([
    ['', []],
    [', also in a record', ['--observe', 'all']],
  ])('says what lies beyond its network, and what would allow it%s', async (_, flags) => {
    const script = `import socket
for host in '127.0.0.1', '192.0.2.1':
    try: socket.create_connection((host, 9))
    except OSError as error: print(error.errno)
socket.socket(type=socket.SOCK_DGRAM).connect_ex(('192.0.2.53', 53))`;
    const run = { place: makePlace(), flags, command: [PYTHON, '-c', script] };
    const { stdout, stderr } = await runAssay(run);
    expect(stdout).toBe('111\n101\n');
    expect(stderr).toContain(
      'assay: refused: connect tcp:192.0.2.1:9; allow it with --allow-net 192.0.2.1:9 (and 1 more',
    );
    const { summary } = await runForSummary(run);
    expect(summary.refusals).toEqual([
      expect.objectContaining({ path: 'tcp:192.0.2.1:9', allowWith: '--allow-net 192.0.2.1:9' }),
      expect.objectContaining({ path: 'udp:192.0.2.53:53', allowWith: '--allow-net NAME' }),
    ]);
  });

  it('following the advice allows it', async () => {
    const place = makePlace();
    place.write('home/notes', 'notes\n');
    const command = ['/bin/sh', '-c', 'cat ~/notes'];
    const refused = await runAssay({ place, command });
    expect(refused.code).not.toBe(0);
    const flag = /allow it with (--allow-read) (\S+)/.exec(refused.stderr);
    expect(flag).not.toBeNull();
    const path = (flag?.[2] ?? '').replace('~', place.home);
    expect(await runAssay({ place, flags: [flag?.[1] ?? '', path], command })).toMatchObject({
      code: 0,
      stdout: 'notes\n',
    });
  });

  it.each(['echo x > NEW', 'mkdir -p NEW/a/b', 'ln -s x NEW'])(
    'the flag that is hinted for a new name allows it: %s',
    async (script) => {
      const place = makePlace();
      const data = place.makeDir('data');
      const command = ['/bin/sh', '-c', script.replace('NEW', `${data}/new`)];
      const flags = ['--quiet', '--preset', 'coding-agent', '--allow-read', data];
      const refused = await runAssay({ place, flags: flags.slice(1), command });
      const flag = /allow it with --allow-write (\S+)/.exec(refused.stderr)?.[1] ?? '';
      expect(place.at('data')).toBe(data);
      expect(flag.replace('~', place.at('home'))).toBe(data);
      const allowed = await runAssay({ place, flags: [...flags, '--allow-write', data], command });
      expect(allowed).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it('--dry-run of what the policy allows ends as the program does', async () => {
    const outcome = await runAssay({
      place: makePlace(),
      flags: ['--dry-run', '--preset', 'coding-agent'],
      command: ['/bin/sh', '-c', 'echo x > new; exit 7'],
    });
    expect(outcome).toMatchObject({ code: 7, stderr: expect.stringContaining('no violations') });
  });

  it('--dry-run blocks nothing, and says what would be refused', async () => {
    const place = makePlace();
    place.write('home/secret', 'secret\n');
    const script = `cat ~/secret; echo x > .bashrc && echo x > ../outside && kill -0 ${process.ppid}; echo killed=$?; ls / | grep -c home; exit 0`;
    const outcome = await runAssay({
      place,
      flags: ['--dry-run', '--deny', '~/secret'],
      command: ['/bin/sh', '-c', script],
    });
    expect(outcome.code).toBe(4);
    expect(outcome.stdout).toContain('secret\n');
    expect(outcome.stderr).toContain('(Dry-Run)');
    expect(place.has('outside')).toBe(true);
    const refused = outcome.stderr.match(/would refuse .*/g) ?? [];
    expect(refused).toEqual([
      `would refuse read ${place.at('home/secret')} (--deny, fs.deny: ~/secret)`,
      expect.stringContaining(`would refuse write ${place.at('work/.bashrc')} (`),
      `would refuse write ${place.at('outside')} (nothing allows it)`,
      'would refuse read / (nothing allows it)',
    ]);
    if (person.uid === 0) expect(outcome.stdout).toContain('killed=0');
  });

  it.each([
    ['every layer', [], 0],
    ['no broker, nothing that needs one', ['--layers=-broker'], 0],
    ['no broker, a writable workspace', ['--layers=-broker', '--preset', 'coding-agent'], 2],
    ['no seccomp', ['--layers=-seccomp'], 2],
    ['no Landlock', ['--layers=-landlock'], 0],
    ['no Landlock and no broker', ['--layers=-landlock,-broker'], 2],
    // Root makes the other namespaces without it.
    ['no user namespace', ['--layers=-user'], person.uid === 0 ? 0 : 2],
    ['no pid namespace', ['--layers=-pid'], 2],
  ])('--fail-closed with %s, %j: exit %i', async (_, flags, code) => {
    const place = makePlace();
    const outcome = await runAssay({
      place,
      flags: ['--fail-closed', ...flags],
      command: ['echo', 'ran'],
    });
    expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({
      code,
      stdout: code === 0 ? 'ran\n' : '',
    });
    if (code === 2) expect(outcome.stderr).toContain('E_POLICY_CONFLICT_DENY_WINS_UNENFORCEABLE');
  });

  it('--enforce refuses to run without any boundary', async () => {
    const flags = ['--enforce', '--layers=-landlock,-seccomp,-broker,-user,-mount,-pid,-net,-ipc'];
    const refused = await runAssay({ place: makePlace(), flags, command: ['echo', 'ran'] });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('E_BACKEND_UNAVAILABLE_UNENFORCEABLE');
    expect(
      await runAssay({ place: makePlace(), flags: ['--enforce'], command: ['true'] }),
    ).toMatchObject({ code: 0 });
  });

  it('--timeout takes plain seconds, and the message says how long', async () => {
    const { code, stderr } = await runAssay({
      place: makePlace(),
      flags: ['--timeout', '1'],
      command: ['sleep', '30'],
    });
    expect(code).toBe(124);
    expect(stderr).toContain('TIMEOUT: Process exceeded 1s limit');
  });
});
