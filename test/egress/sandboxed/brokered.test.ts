import { expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { type Place, usePlaces } from '../../e2e/place.ts';
import { ASSAY, fixture, fixturePath, PYTHON, runBare } from '../../e2e/run-assay.ts';
import {
  HIDDEN_OWN,
  OTHER,
  OWN,
  runInWorld,
  WEB,
  type WorldOutcome,
  type WorldRun,
} from './world.ts';

/** A machine without user namespaces, and one that lacks the network namespace alone. */
const WITHOUT = ['--layers=-user,-mount,-pid,-ipc,-net', '--layers=-net'];
const zone = {
  'web.example.org': [WEB],
  'no.example.com': [WEB],
  'home.example.org': ['127.0.0.1'],
};
const allow = ['--allow-net', `${WEB}:80`];

describeForEachPerson('a run without a network of its own', (person) => {
  const makePlace = usePlaces(person);
  const run = async (
    place: Place,
    layers: string,
    options: Omit<WorldRun, 'place'>,
  ): Promise<WorldOutcome> =>
    await runInWorld({ zone, place, ...options, flags: ['--quiet', layers, ...options.flags] });
  const script = fixture('knock-brokered.py');
  const knock = (...ways: string[]): string[] => [PYTHON, '-c', script, WEB, '80', ...ways];
  const lines = ({ stdout }: WorldOutcome): string[] => stdout.split('\n').filter(Boolean);

  it.each(WITHOUT)('reaches what is allowed, however it connects: %s', async (layers) => {
    const ways = ['plain:80', 'in_time:80', 'nonblocking:80', 'mapped:80', 'unix_listen:0'];
    const outcome = await run(makePlace(), layers, { flags: allow, command: knock(...ways) });
    expect(lines(outcome)).toEqual([
      ...['plain', 'in_time', 'nonblocking', 'mapped'].map((way) => `${way} ${WEB}:80`),
      'unix_listen talked',
    ]);
  });

  it.each(WITHOUT)('reaches nothing else, and is told so at once: %s', async (layers) => {
    const refused: Readonly<Record<string, string>> = {
      plain: 'EACCES',
      in_time: 'EACCES',
      nonblocking: 'EACCES',
      mapped: 'EACCES',
      loopback: 'EACCES',
      unspecified: 'EACCES',
      ipv6: 'EACCES',
      metadata: 'EACCES',
      mptcp: 'EPROTONOSUPPORT',
      udp: 'EACCES',
      raw: 'EACCES',
      vsock: 'EAFNOSUPPORT',
      fastopen: 'EPERM',
      fastopen_connect: 'EPERM',
      source_route: 'EPERM',
      bind: 'EACCES',
      listen: 'EACCES',
      unspec: 'EACCES',
      second: 'EACCES',
    };
    const ways = Object.keys(refused).map((way) => `${way}:8080`);
    const outcome = await run(makePlace(), layers, { flags: allow, command: knock(...ways) });
    expect(lines(outcome)).toEqual(Object.entries(refused).map(([way, end]) => `${way} ${end}`));
  });

  it.each(WITHOUT)('wins no race: %s', async (layers) => {
    const command = knock('race_address:8080', 'race_socket:8080');
    const outcome = await run(makePlace(), layers, { flags: allow, command });
    expect(lines(outcome)).toEqual(['race_address never', 'race_socket never']);
  });

  it.each(WITHOUT)('reaches names, by the proxy and by plain connections: %s', async (layers) => {
    const script = [
      'curl -s http://web.example.org/; echo',
      "curl -s --noproxy '*' http://web.example.org:8080/; echo",
      "curl -s --noproxy '*' http://no.example.com/ || echo no",
      'curl -s -o /dev/null -w "%{http_code}\\n" http://no.example.com/',
      "curl -s --noproxy '*' http://home.example.org/ || echo no",
      `curl -s --noproxy '*' http://${OTHER}/ || echo no`,
    ].join('\n');
    const { stdout, asked } = await run(makePlace(), layers, {
      flags: ['--allow-net', 'web.example.org', '--allow-net', 'home.example.org'],
      command: ['/bin/sh', '-c', script],
    });
    expect(
      stdout
        .split('\n')
        .map((line) => line.replace(/ for .*/, ''))
        .filter(Boolean),
    ).toEqual([`${WEB}:80`, `${WEB}:8080`, 'no', '403', 'no', 'no']);
    expect(asked).not.toContain('no.example.com');
  });

  it('reaches a port of the host’s loopback that is named', async () => {
    const outcome = await run(makePlace(), '--layers=-net', {
      flags: ['--allow-net', '127.0.0.1:80', ...allow],
      command: knock('loopback:80', 'unspecified:80', 'loopback:8080'),
    });
    expect(lines(outcome)).toEqual([
      'loopback 127.0.0.1:80',
      'unspecified 127.0.0.1:80',
      'loopback EACCES',
    ]);
  });

  it.each([OWN, HIDDEN_OWN].flatMap((own) => WITHOUT.map((layers) => [own, layers] as const)))(
    'reaches the host at %s only where that is named: %s',
    async (own, layers) => {
      const command = (port: number): string[] => [
        '/bin/sh',
        '-c',
        `curl -sS --noproxy '*' http://${own}:${port}/ || echo no\ncurl -sS --noproxy '*' http://self.example.org:${port}/ || echo no`,
      ];
      const flags = ['11.0.0.0/8', '*:80', 'self.example.org', `${own}:8080`].flatMap((text) => [
        '--allow-net',
        text,
      ]);
      const closed = await run(makePlace(), layers, {
        flags,
        zone: { 'self.example.org': [own] },
        command: command(80),
      });
      expect(lines(closed)).toEqual(['no', 'no']);
      const named = await run(makePlace(), layers, {
        flags,
        zone: { 'self.example.org': [own] },
        command: command(8080),
      });
      expect(lines(named)).toEqual([
        `${own}:8080 for ${own}:8080`,
        `${own}:8080 for self.example.org:8080`,
      ]);
    },
  );

  it('waits for a connection as the kernel does, and nobody else waits with it', async () => {
    const place = makePlace();
    const wait = [PYTHON, '-c', fixture('wait-for-port.py'), '@PORT@', '1'];
    const named = ['@PORT@', '1'].flatMap((port) => ['--allow-net', `127.0.0.1:${port}`]);
    const inside = [ASSAY, 'sandbox', '--quiet', '--layers=-net', ...named, '--', ...wait];
    const run = async (command: string[]): Promise<string> => {
      const full = [PYTHON, fixturePath('full-listener.py'), ...command];
      return (await runBare({ place, command: full })).stdout;
    };
    const expected = await run(wait);
    expect(expected).toContain('signal EINTR after a while');
    expect(await run(inside)).toBe(expected);
  });

  it.each([
    ['--layers=-net,-broker', 'broker'],
    ['--layers=-net,landlock@3', 'Landlock 4'],
  ])('needs what makes the kernel refuse: %s', async (layers, missing) => {
    const { code, stderr } = await run(makePlace(), layers, {
      flags: [...allow, '--fail-closed'],
      command: ['/bin/true'],
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain(missing);
  });
});
