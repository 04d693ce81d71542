import { describe, expect, it } from 'vitest';
import { makeHide } from '../../src/core/known-secrets.ts';
import { redactPath } from '../../src/core/redact.ts';
import { commandLine, eventLine, programLine, record } from './lines.ts';

const DIGEST = 'a'.repeat(64);

describe('Recorder', () => {
  it('makes file events', () => {
    const { events, damagedLines } = record(
      eventLine({ op: 'write', path: '/w/a', requested: 'a', state: '1:2:3:4:5' }) +
        eventLine({ id: 2, op: 'rename', path: '/w/a', target: '/w/b', flags: 3, basis: 'o' }) +
        eventLine({ id: 3, op: 'read', path: '/w/x', errno: 2, basis: 'd', program: 7 }),
    );
    expect(events).toEqual([
      {
        kind: 'file',
        op: 'write',
        path: '/w/a',
        requested: 'a',
        before: { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' },
        basis: 'performed',
        outcome: 'ok',
        program: 1,
        count: 1,
        atMs: 0,
      },
      {
        kind: 'file',
        op: 'rename',
        path: '/w/a',
        target: '/w/b',
        isDirectory: true,
        isReplacing: true,
        basis: 'observed',
        outcome: 'ok',
        program: 1,
        count: 1,
        atMs: 0,
      },
      {
        kind: 'file',
        op: 'read',
        path: '/w/x',
        basis: 'predicted',
        outcome: 'ENOENT',
        program: 7,
        count: 1,
        atMs: 0,
      },
    ]);
    expect(damagedLines).toBe(0);
  });

  it('makes exec events, and says when only the failure is known', () => {
    const { events } = record(eventLine({ op: 'exec', path: '/bin/x', errno: -1, basis: 'o' }));
    expect(events).toMatchObject([{ kind: 'exec', path: '/bin/x', outcome: 'unknown' }]);
    expect(events[0]).not.toHaveProperty('op');
  });

  it.each([
    ['tcp:127.0.0.1:80', { family: 'tcp', host: '127.0.0.1', port: 80 }],
    ['udp:[::1]:53', { family: 'udp', host: '::1', port: 53 }],
    ['unix:/run/a:1', { family: 'unix', host: '/run/a:1' }],
    ['unix:@abstract', { family: 'unix', host: '@abstract' }],
    ['af16:', { family: 'af16', host: '' }],
  ])('takes the address %s apart', (path, parts) => {
    const [event] = record(eventLine({ op: 'connect', path, errno: 111 })).events;
    expect(event).toMatchObject({ kind: 'network', op: 'connect', outcome: 'ECONNREFUSED' });
    expect(event).toMatchObject(parts);
    expect(Object.hasOwn(event ?? {}, 'port')).toBe('port' in parts);
  });

  it('says which port the kernel chose', () => {
    const fields = { op: 'bind', path: 'tcp:127.0.0.1:0', target: '40123' };
    expect(record(eventLine(fields)).events).toMatchObject([{ port: 0, chosenPort: 40_123 }]);
  });

  it.each([
    [{ rule: 5 }, { rule: 'rule 5', layer: 'broker' }],
    [
      { rule: 5, flags: 4 },
      { rule: 'rule 5', layer: 'kernel' },
    ],
    [{ rule: -2 }, { rule: null, layer: 'broker' }],
    [
      { rule: -2, flags: 4 },
      { rule: null, layer: 'kernel' },
    ],
    [{ rule: -1 }, { rule: 'git guard', layer: 'git-guard' }],
    [
      { op: 'limit-files', rule: -2 },
      { rule: 'limits.files', layer: 'limit' },
    ],
    [
      { op: 'setuid', rule: -2 },
      { rule: 'no set-user-id files', layer: 'broker' },
    ],
  ])('says who refused: %j', (fields, decision) => {
    const [event] = record(eventLine({ errno: 13, ...fields })).events;
    expect(event).toMatchObject({ kind: 'file', outcome: 'EACCES', decision });
  });

  it('tells of a limit once, beside what it refused', () => {
    const { events } = record(
      eventLine({ op: 'limit-files', path: '/a', rule: -2, errno: 122 }) +
        eventLine({ op: 'limit-files', path: '/b', rule: -2, errno: 122 }),
    );
    expect(events.filter(({ kind }) => kind === 'limit')).toEqual([
      { kind: 'limit', limit: 'files', atMs: 0 },
    ]);
    expect(events.filter(({ kind }) => kind === 'file')).toHaveLength(2);
  });

  it('adds up the counts of the same event, also when the helper repeats it', () => {
    const { events } = record(
      `${eventLine({ id: 1 })}${eventLine({ id: 2 })}${eventLine({ id: 3, path: '/w/b' })}{"c":[[1,5],[3,2]]}\n`,
    );
    expect(events).toMatchObject([
      { path: '/w/a', count: 6 },
      { path: '/w/b', count: 2 },
    ]);
  });

  it.each([
    { op: 'write' },
    { path: '/w/b' },
    { target: '/w/t' },
    { errno: 13 },
    { program: 2 },
    { rule: 1 },
  ])('tells events apart by %j', (other) => {
    expect(record(eventLine({}) + eventLine({ id: 2, ...other })).events).toHaveLength(2);
  });

  it('does not take a path and a target for another path and target', () => {
    const { events } = record(
      eventLine({ op: 'rename', path: '/ab', target: '/c' }) +
        eventLine({ id: 2, op: 'rename', path: '/a', target: 'b/c' }),
    );
    expect(events).toHaveLength(2);
  });

  it('tells moves of directories again in their place, and counts them in the first', () => {
    const there = { op: 'rename', path: '/w/d', target: '/w/e', flags: 33 };
    const back = { op: 'rename', path: '/w/e', target: '/w/d', flags: 33 };
    const shown: unknown[] = [];
    const { events } = record(
      [there, back, there].map((move, index) => eventLine({ ...move, id: index + 1 })).join(''),
      { onFirstSighting: (sighting) => shown.push(sighting) },
    );
    expect(events).toMatchObject([
      { path: '/w/d', isDirectory: true, count: 2 },
      { path: '/w/e', isDirectory: true, count: 1 },
      { path: '/w/d', isDirectory: true, count: 0 },
    ]);
    expect(shown).toHaveLength(2);
  });

  it('tells the ways of a rename apart', () => {
    const move = { op: 'rename', path: '/w/a', target: '/w/b' };
    const { events } = record(
      [0, 1, 8 | 32, 16 | 32, 24].map((flags) => eventLine({ ...move, flags })).join(''),
    );
    const moves = events.map((event) => (event.kind === 'file' && event.move) ?? 'plain');
    expect(moves).toEqual(['plain', 'plain', 'exchange', 'back', 'none']);
  });

  it('has what a rename replaced from when it was first seen', () => {
    const move = { op: 'rename', path: '/w/l', target: '/w/m' };
    const { events } = record(eventLine(move) + eventLine({ ...move, id: 2, flags: 2 }));
    expect(events).toMatchObject([{ op: 'rename', count: 2 }]);
    expect(events[0]).not.toHaveProperty('isReplacing');
  });

  it('states what was seen in two ways in the weaker one, whichever came first', () => {
    const lines = [eventLine({ basis: 'p' }), eventLine({ id: 2, basis: 'd' })];
    for (const text of [lines.join(''), lines.toReversed().join('')])
      expect(record(text).events).toMatchObject([{ basis: 'predicted', count: 2 }]);
  });

  it('keeps the time of the first sighting', () => {
    const lines = [eventLine({ atMs: 40 }), eventLine({ id: 2, atMs: 9 })];
    for (const text of [lines.join(''), lines.toReversed().join('')])
      expect(record(text).events).toMatchObject([{ atMs: 9, count: 2 }]);
  });

  it.each([
    ['a token', ['run', `echo ${['gh', 'p_'].join('')}a1B2c3`], ['run', 'echo']],
    ['an address', ['curl', 'https://me:hunt'], ['curl']],
    ['the value of a flag', ['run', '--auth', 'ab'], ['run', '--auth']],
    ['the value of a variable', ['env', 'A=1', 'TOKEN=ab'], ['env', 'A=1']],
    ['a value that is kept', ['run', 'say Open Sesa'], ['run', 'say']],
    ['such a value after its first word', ['run', 'say Open '], ['run', 'say']],
    ['nothing at all', ['run', ''], ['run']],
  ])('shows nothing of %s that a command line was cut in', (_, argv, shown) => {
    const lines = programLine(1, 0, '/bin/run') + commandLine(1, argv, true);
    const { programs } = record(lines, { hide: makeHide(['Open Sesame']) });
    expect(programs[0]?.commands).toEqual([[...shown, '[truncated]']]);
  });

  it('knows programs with their line, digest, count and distinct commands', () => {
    const { programs, images } = record(
      `{"p":[1,0,"/bin/sh","/w/run.sh","1","2","3","4","5","${DIGEST}",6,false]}\n` +
        commandLine(1, ['sh', 'run.sh']) +
        commandLine(1, ['sh', 'run.sh']) +
        commandLine(1, ['sh', '-c', 'x y'], true) +
        programLine(2, 1, '/bin/ls') +
        '{"n":[[2,1000]]}\n',
    );
    expect(programs).toEqual([
      {
        id: 1,
        parent: 0,
        image: '/bin/sh',
        script: '/w/run.sh',
        digest: DIGEST,
        count: 1,
        atMs: 6,
        commands: [
          ['sh', 'run.sh'],
          ['sh', '-c', 'x', '[truncated]'],
        ],
      },
      { id: 2, parent: 1, image: '/bin/ls', count: 1000, atMs: 7, commands: [] },
    ]);
    expect(images.get(2)).toEqual({ dev: '1', ino: '2', size: '3', mtimeNs: '4', ctimeNs: '5' });
  });

  it('keeps process numbers, and adds up what was lost', () => {
    const { pids, lost } = record('{"pids":[[3,9],[11,11]]}\n{"lost":2}\n{"lost":1}\n');
    expect(pids).toEqual([
      { first: 3, last: 9 },
      { first: 11, last: 11 },
    ]);
    expect(lost).toBe(3);
  });

  it('lets what is out of sight have a number, and no more than that', () => {
    const text = `${eventLine({ id: 1 })}{"absent":"/x"}\n{"c":[[1,2],[2,5]]}\n`;
    expect(record(text)).toMatchObject({ damagedLines: 0, events: [{ count: 2 }] });
    expect(record(`${text}{"c":[[3,5]]}\n`).damagedLines).toBe(1);
  });

  it('tells no more programs than there is room for their names', () => {
    const images = Array.from({ length: 2200 }, (_, at) => `/w/${'x'.repeat(4000)}/${at}`);
    const { programs, overflow } = record(
      images.map((image, at) => programLine(at + 1, 0, image)).join(''),
    );
    expect(programs.length).toBeLessThan(2100);
    expect(programs.length + overflow.reduce((sum, { count }) => sum + count, 0)).toBe(2200);
  });

  it('keeps no secret in paths, addresses and command lines; two are two names, and one command line', () => {
    const tokens = ['1', '2'].map((digit) => `ghp_${digit.repeat(36)}`);
    const seen: unknown[] = [];
    const text = tokens
      .flatMap((token) => [
        programLine(1, 0, `/w/${token}/bin`, `/w/${token}`),
        commandLine(1, ['x', '--token', token]),
        eventLine({ path: `/w/${token}`, requested: `./${token}`, target: token, op: 'symlink' }),
        eventLine({ op: 'connect', path: `unix:/run/${token}` }),
      ])
      .join('');
    const result = record(text, { onFirstSighting: (...sighting) => seen.push(sighting) });
    expect(JSON.stringify([result, seen])).not.toContain('ghp_');
    expect(JSON.stringify(result)).toContain('[redacted]');
    expect(result.events).toHaveLength(4);
    expect(result.programs[0]?.commands).toHaveLength(1);
  });

  it('keeps no secret in the rules that refused', () => {
    const token = `ghp_${'1'.repeat(36)}`;
    const { events } = record(eventLine({ op: 'read', path: '/w/a', errno: 13, rule: 3 }), {
      describeRule: () => `p.yaml fs.deny: /w/${token} /w/qz7value77`,
      hide: makeHide(['qz7value77']),
    });
    const rule = `p.yaml fs.deny: ${redactPath(`/w/${token}`)} /w/[redacted]`;
    expect(events).toMatchObject([{ decision: { rule } }]);
    expect(rule).not.toContain(token);
  });
});
