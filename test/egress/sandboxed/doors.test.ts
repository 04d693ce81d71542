import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import type { Layer } from '../../../src/plan/plan.ts';
import { EchoDriver } from './echo.ts';

let driver: EchoDriver;
beforeAll(async () => {
  driver = await EchoDriver.make();
});
afterAll(() => driver.close());

const knock = (...targets: string[]): string[] => [PYTHON, '-c', fixture('knock.py'), ...targets];
const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** A server of the host, which nobody inside may reach. */
async function listenOutside(): Promise<{ port: number; close(): void }> {
  const server = createServer((socket) => socket.end('outside\noutside\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: () => void server.close(),
  };
}

describeForEachPerson('the doors of a run', (person) => {
  const makePlace = usePlaces(person);

  it('are reached by plain connections, which say where they were for', async () => {
    const targets = ['tcp:198.18.0.5:443', 'tcp:198.19.255.254:22', 'tcp:127.0.0.1:3128'];
    const { stdout, status, problems } = await driver.run(makePlace(), {
      net: ['example.org'],
      argv: knock(...targets, 'tcp:127.0.0.53:53', 'udp:127.0.0.53:53', 'tcp:::ffff:198.18.0.5:80'),
    });
    expect(lines(stdout)).toEqual([
      'tcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
      'tcp:198.19.255.254:22 transparent 198.19.255.254 22 | word',
      'tcp:127.0.0.1:3128 proxy 127.0.0.1 3128 | word',
      'tcp:127.0.0.53:53 dnsTcp 127.0.0.53 53 | word',
      'udp:127.0.0.53:53 dns word',
      'tcp:::ffff:198.18.0.5:80 transparent 198.18.0.5 80 | word',
    ]);
    expect([status, problems]).toEqual(['enforced', []]);
  });

  // Without the other layers, the network namespace alone has to hold.
  it.each([
    { title: 'with every layer', without: [], fastOpen: ['EPERM', 'EPERM'] },
    {
      title: 'without the layers that refuse calls',
      without: ['seccomp', 'broker', 'landlock'] as const,
      fastOpen: ['ENETUNREACH', 'transparent 198.18.0.5 443 | word'],
    },
  ])('are the only way, $title: all else is unreachable at once', async (layers) => {
    const outside = await listenOutside();
    const others = ['10.0.0.1:80', '203.0.113.7:443', '169.254.169.254:80', '2001:db8::1:443'];
    const expected = others.flatMap((one) => [
      `tcp:${one} ENETUNREACH`,
      `udp:${one} ENETUNREACH`,
      `mptcp:${one} ENETUNREACH`,
      `tfo:${one} ${layers.fastOpen[0]}`,
    ]);
    expected.push(
      `tcp:127.0.0.1:${outside.port} ECONNREFUSED`,
      'mptcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
      `tfo:198.18.0.5:443 ${layers.fastOpen[1]}`,
      'udp:198.18.0.5:443 ECONNREFUSED',
    );
    const { stdout } = await driver.run(makePlace(), {
      net: ['example.org'],
      argv: knock(...expected.map((line) => line.split(' ')[0] ?? '')),
      without: layers.without,
    });
    outside.close();
    expect(lines(stdout)).toEqual(expected);
  });

  it('stand at allowed addresses and ranges, of IPv6 as well', async () => {
    const { stdout } = await driver.run(makePlace(), {
      net: ['10.1.0.0/16:5432', '2001:db8:7::/48', '192.0.2.9'],
      argv: knock(
        ...['10.1.2.3:5432', '10.2.0.1:5432', '2001:db8:7::1:443', '2001:db8:8::1:443'].map(
          (one) => `tcp:${one}`,
        ),
        'tcp:192.0.2.9:22',
        'tcp:192.0.2.8:22',
      ),
    });
    expect(lines(stdout)).toEqual([
      'tcp:10.1.2.3:5432 transparent 10.1.2.3 5432 | word',
      'tcp:10.2.0.1:5432 ENETUNREACH',
      'tcp:2001:db8:7::1:443 transparent 2001:db8:7::1 443 | word',
      'tcp:2001:db8:8::1:443 ENETUNREACH',
      'tcp:192.0.2.9:22 transparent 192.0.2.9 22 | word',
      'tcp:192.0.2.8:22 ENETUNREACH',
    ]);
  });

  it('stand everywhere when a port of every host is allowed, but never on loopback', async () => {
    const outside = await listenOutside();
    const { stdout } = await driver.run(makePlace(), {
      net: ['*:443'],
      argv: knock(
        'tcp:203.0.113.7:443',
        'tcp:2001:db8::1:443',
        'udp:203.0.113.7:53',
        `tcp:127.0.0.1:${outside.port}`,
        `tcp:127.9.9.9:443`,
        'tcp:::1:443',
      ),
    });
    outside.close();
    expect(lines(stdout)).toEqual([
      'tcp:203.0.113.7:443 transparent 203.0.113.7 443 | word',
      'tcp:2001:db8::1:443 transparent 2001:db8::1 443 | word',
      'udp:203.0.113.7:53 ECONNREFUSED',
      `tcp:127.0.0.1:${outside.port} ECONNREFUSED`,
      'tcp:127.9.9.9:443 ECONNREFUSED',
      'tcp:::1:443 ECONNREFUSED',
    ]);
  });

  // Root needs no user namespace for the others: then the network belongs to the host's own root.
  const kinds: readonly (readonly Layer[])[] = person.name === 'root' ? [[], ['user']] : [[]];
  it.each(kinds.map((without) => ({ without })))(
    'cannot be taken over, removed or gone around (without: $without)',
    async ({ without }) => {
      const script = `${fixture('storm-doors.py')}\n${fixture('knock.py')}`;
      const targets = ['tcp:198.18.0.5:443', 'tcp:127.0.0.1:3128', 'udp:127.0.0.53:53'];
      const { stdout, problems } = await driver.run(makePlace(), {
        net: ['example.org'],
        argv: [PYTHON, '-c', script, ...targets, 'tcp:10.0.0.1:80'],
        without,
      });
      const tries = lines(stdout);
      expect(tries.filter((line) => line.endsWith(': done'))).toEqual([]);
      expect(tries.filter((line) => line.startsWith('proxy'))).toHaveLength(5);
      expect(tries.slice(-4)).toEqual([
        'tcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
        'tcp:127.0.0.1:3128 proxy 127.0.0.1 3128 | word',
        'udp:127.0.0.53:53 dns word',
        'tcp:10.0.0.1:80 ENETUNREACH',
      ]);
      expect(problems).toEqual([]);
    },
  );

  // Without nf_tables a server at every address leaves no room for the door, and nothing may pass for one.
  it.each<{ without: readonly Layer[]; said: string }>([
    { without: [], said: 'transparent 198.18.0.5 8443 | word' },
    { without: ['nft'], said: 'ECONNREFUSED' },
  ])('are not taken by a server of the program on the same port: %j', async ({ without, said }) => {
    const script = `import socket\nown = socket.socket()\nown.bind(("0.0.0.0", 8443))\nown.listen()\n${fixture('knock.py')}`;
    const { stdout } = await driver.run(makePlace(), {
      net: ['example.org'],
      argv: [PYTHON, '-c', script, 'tcp:198.18.0.5:8443'],
      without,
    });
    expect(lines(stdout)).toEqual([`tcp:198.18.0.5:8443 ${said}`]);
  });

  it('are those of one run: two at a time do not meet', async () => {
    const hold = `import socket, time\nown = socket.socket()\nown.bind(("127.0.0.1", 5555))\nown.listen()\n`;
    const script = `${hold}time.sleep(1)\n${fixture('knock.py')}`;
    const place = makePlace();
    const run = async (net: string, target: string): Promise<string[]> =>
      lines(
        (
          await driver.run(place, {
            net: [net],
            argv: [PYTHON, '-c', script, ...target.split(' ')],
          })
        ).stdout,
      );
    const [one, other] = await Promise.all([
      run('10.1.0.0/16', 'tcp:10.1.0.1:80 tcp:10.2.0.1:80'),
      run('10.2.0.0/16', 'tcp:10.1.0.1:80 tcp:10.2.0.1:80'),
    ]);
    expect(one).toEqual([
      'tcp:10.1.0.1:80 transparent 10.1.0.1 80 | word',
      'tcp:10.2.0.1:80 ENETUNREACH',
    ]);
    expect(other).toEqual([
      'tcp:10.1.0.1:80 ENETUNREACH',
      'tcp:10.2.0.1:80 transparent 10.2.0.1 80 | word',
    ]);
  });
});
