import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeForEachPerson, findPeople } from '../../e2e/as-user.ts';
import { Place, usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import { EchoDriver } from './echo.ts';

let driver: EchoDriver;
beforeAll(async () => {
  driver = await EchoDriver.make();
});
afterAll(() => driver.close());

const knock = (...targets: string[]): string[] => [PYTHON, '-c', fixture('knock.py'), ...targets];
const lines = (text: string): string[] => text.split('\n').filter(Boolean);
const net = ['example.org'];

describeForEachPerson('serving the doors', (person) => {
  const makePlace = usePlaces(person);

  it('works with nothing but what node documents', async () => {
    const { stdout, problems } = await driver.run(makePlace(), {
      net: [...net, '2001:db8::/32'],
      argv: knock('tcp:198.18.0.5:443', 'tcp:2001:db8::1:80', 'udp:127.0.0.53:53'),
      isDocumentedOnly: true,
    });
    expect(lines(stdout)).toEqual([
      'tcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
      'tcp:2001:db8::1:80 transparent 2001:db8::1 80 | word',
      'udp:127.0.0.53:53 dns word',
    ]);
    expect(problems).toEqual([]);
  });

  it.each(['start', 'connection', 'later'] as const)(
    'that crashes (%s) closes them, is told, and leaves the run',
    async (crash) => {
      const script = `${fixture('knock.py')}\nimport time\ntime.sleep(0.5)\nprint(knock("tcp", "198.18.0.5", 443))`;
      const { stdout, problems, exitCode } = await driver.run(makePlace(), {
        net,
        argv: [PYTHON, '-c', `import time\ntime.sleep(0.5)\n${script}`, 'tcp:198.18.0.5:443'],
        crash,
      });
      expect(stdout).not.toContain('(slow)');
      expect(exitCode).toBe(1); // the second try raises ConnectionRefusedError
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain('the doors to the network broke down: crashed');
    },
  );

  it('ends with the run, whatever is still open', async () => {
    const script =
      'import socket, os\nheld = [socket.create_connection(("198.18.0.5", 80 + i)) for i in range(200)]\nos._exit(7)';
    const started = performance.now();
    const { exitCode, problems } = await driver.run(makePlace(), {
      net,
      argv: [PYTHON, '-c', script],
    });
    expect([exitCode, problems]).toEqual([7, []]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('takes a thousand connections at once', async () => {
    const script = [
      'import resource, socket',
      'resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))',
      'held = [socket.create_connection(("198.18.0.5", 443), 30) for i in range(1000)]',
      'print(sum(one.recv(64) == b"transparent 198.18.0.5 443\\n" for one in held))',
    ].join('\n');
    const { stdout } = await driver.run(makePlace(), { net, argv: [PYTHON, '-c', script] });
    expect(stdout).toBe('1000\n');
  });

  it('without nf_tables makes a door at each address that the program connects to', async () => {
    const { stdout, status, problems } = await driver.run(makePlace(), {
      net: [...net, '2001:db8::/32', '*:443'],
      argv: knock(
        'tcp:198.18.0.5:443',
        'tcp:198.18.0.5:443',
        'tcp:::ffff:198.18.0.6:22',
        'tcp:2001:db8::1:80',
        'udp:198.18.0.5:443',
        'tcp:127.0.0.1:8080',
        'tcp:127.0.0.1:3128',
        'udp:127.0.0.53:53',
      ),
      without: ['nft'],
    });
    expect(lines(stdout)).toEqual([
      'tcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
      'tcp:198.18.0.5:443 transparent 198.18.0.5 443 | word',
      'tcp:::ffff:198.18.0.6:22 transparent 198.18.0.6 22 | word',
      'tcp:2001:db8::1:80 transparent 2001:db8::1 80 | word',
      'udp:198.18.0.5:443 ECONNREFUSED',
      'tcp:127.0.0.1:8080 ECONNREFUSED',
      'tcp:127.0.0.1:3128 proxy 127.0.0.1 3128 | word',
      'udp:127.0.0.53:53 dns word',
    ]);
    expect([status, problems]).toEqual(['enforced', []]);
  });

  it('without nf_tables bears a program that connects everywhere', async () => {
    const script = [
      'import resource, socket',
      'resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))',
      'outcomes = [socket.socket().connect_ex((f"198.18.{i // 200}.{i % 200 + 1}", 443)) for i in range(3000)]',
      'print(outcomes.count(0) >= 1000, set(outcomes) <= {0, 111})',
    ].join('\n');
    const { stdout, problems } = await driver.run(makePlace(), {
      net,
      argv: [PYTHON, '-c', script],
      without: ['nft'],
    });
    expect([stdout, problems]).toEqual(['True True\n', []]);
  });

  it('without nf_tables and the broker leaves the proxy and DNS, and says so', async () => {
    const { stdout, status, reason, degradations } = await driver.run(makePlace(), {
      net,
      argv: knock('tcp:198.18.0.5:443', 'tcp:127.0.0.1:3128', 'udp:127.0.0.53:53'),
      without: ['nft', 'broker'],
    });
    expect(lines(stdout)).toEqual([
      'tcp:198.18.0.5:443 ENETUNREACH',
      'tcp:127.0.0.1:3128 proxy 127.0.0.1 3128 | word',
      'udp:127.0.0.53:53 dns word',
    ]);
    expect(status).toBe('partial');
    expect(reason).toContain('left out by --layers');
    expect(degradations).toContain(`net.allow: example.org: ${reason}`);
  });

  it('without a network namespace and the broker is a degradation', async () => {
    const { status, degradations } = await driver.run(makePlace(), {
      net,
      argv: ['/bin/true'],
      without: ['net', 'broker'],
    });
    expect(status).toBeUndefined();
    expect(degradations.join('\n')).toContain('net.allow: example.org: ');
  });

  it('tells programs of the proxy and of the resolver', async () => {
    const { stdout } = await driver.run(makePlace(), {
      net,
      argv: ['/bin/sh', '-c', 'cat /etc/resolv.conf; env | grep -i _proxy= | sort'],
    });
    expect(lines(stdout)).toEqual([
      'nameserver 127.0.0.53',
      'ALL_PROXY=socks5h://127.0.0.1:3128',
      'HTTPS_PROXY=http://127.0.0.1:3128',
      'HTTP_PROXY=http://127.0.0.1:3128',
      'NO_PROXY=localhost,127.0.0.1,::1',
      'all_proxy=socks5h://127.0.0.1:3128',
      'http_proxy=http://127.0.0.1:3128',
      'https_proxy=http://127.0.0.1:3128',
      'no_proxy=localhost,127.0.0.1,::1',
    ]);
  });
});

const [root] = findPeople();
const canMount = root?.whyNot === undefined && spawnSync('unshare', ['-m', 'true']).status === 0;

describe.skipIf(!canMount)('the resolver, where its name is a link into a hidden directory', () => {
  it('is found all the same', async () => {
    // In a mount namespace of the test's own: a layer over /etc, and another /run.
    const change = [
      'mount -t tmpfs none /run && mkdir /run/odd /run/upper /run/work',
      'mount -t overlay none -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc',
      'echo nameserver 192.0.2.1 > /run/odd/file',
      'ln -sf ../run/odd/file /etc/resolv.conf',
      'exec "$@"',
    ].join(' && ');
    const prefix = ['unshare', '-m', 'sh', '-c', change, 'sh'];
    if (!root) throw new Error('Cannot find root');
    using place = new Place({ ...root, prefix }, '/home');
    const { stdout } = await driver.run(place, {
      net,
      argv: ['/bin/sh', '-c', 'cat /etc/resolv.conf; ls /run/odd; echo x > /etc/resolv.conf'],
    });
    expect(stdout).toBe('nameserver 127.0.0.53\nfile\n');
  });
});
