import { expect } from 'vitest';

import { isHeld } from '../expectations.ts';
import { CONNECTING } from '../python.ts';
import type { ProgramRow, Row, Seen } from '../row.ts';
import type { World } from '../world.ts';

/** Nobody came, whatever the program thinks. */
function isUnvisited(seen: Seen): void {
  isHeld(seen);
  const { otherHttp, udp } = seen.world;
  expect([otherHttp.visits(), udp.visits()]).toEqual([0, 0]);
}

const closed = (row: Pick<ProgramRow, 'name' | 'code'> & Partial<ProgramRow>): ProgramRow => ({
  group: 'network',
  language: 'python',
  needs: ['sockets'],
  check: isUnvisited,
  ...row,
});

const NONE: Row[] = [
  closed({
    name: 'none: no TCP to loopback of the host',
    hasControl: true,
    code: ({ otherHttp }) => `${CONNECTING}
for address in ('127.0.0.1', '127.0.0.2', '0.0.0.0', 'localhost'):
    attempt(address, lambda: tcp(address, ${otherHttp.port}))
`,
  }),
  closed({
    name: 'none: no TCP to other addresses of the host, nor to the outside',
    code: ({ otherHttp, hostAddress }) => `${CONNECTING}
for address in (${hostAddress ? `'${hostAddress}', ` : ''}'10.0.0.1', '172.17.0.1', '192.0.2.1', '198.18.0.1'):
    attempt(address, lambda: tcp(address, ${otherHttp.port}))
`,
    seconds: 40,
  }),
  closed({
    name: 'none: no IPv6',
    code: ({ otherHttp }) => `${CONNECTING}
for address in ('::1', '::ffff:127.0.0.1', 'fe80::1', '2001:db8::1'):
    attempt(address, lambda: tcp(address, ${otherHttp.port}))
`,
    seconds: 40,
  }),
  closed({
    name: 'none: no UDP',
    code: ({ udp }) => `${CONNECTING}
for address in ('127.0.0.1', '192.0.2.1'):
    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(1)
            s.sendto(b'hello', (address, ${udp.port}))
            return s.recv(10)
    attempt(address, send)
`,
  }),
  closed({
    name: 'none: no DNS',
    code: `${CONNECTING}
for name in ('example.org', 'example.com'):
    attempt(name, lambda: socket.getaddrinfo(name, 80))
`,
    seconds: 60,
  }),
  closed({
    name: 'none: no raw and no packet sockets',
    code: `${CONNECTING}
# A raw socket in a network of one's own sees nothing; what counts is that nothing is sent and nothing heard.
def ping():
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as s:
        s.settimeout(1)
        s.sendto(bytes([8, 0, 0xf7, 0xff, 0, 0, 0, 0]), ('192.0.2.1', 0))
        return s.recv(100)
attempt('icmp', ping)
def sniff():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as s:
        s.settimeout(1)
        return s.recv(100)
attempt('packet', sniff)
`,
  }),
  closed({
    name: 'none: no abstract unix socket of the host',
    hasControl: true,
    code: ({ abstractName }) => `${CONNECTING}
def reach(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(2)
        s.connect(name)
        return s.recv(100)
# Some fill the whole of the address with zeros.
name = b'\\0${abstractName}'
attempt('abstract', lambda: reach(name))
attempt('abstract, filled', lambda: reach(name.ljust(108, b'\\0')))
`,
  }),
  closed({
    name: 'none: no vsock to the host',
    code: `${CONNECTING}
for cid in (0, 1, 2):
    for port in (22, 1024, 9999):
        def reach():
            with socket.socket(getattr(socket, 'AF_VSOCK', 40), socket.SOCK_STREAM) as s:
                s.settimeout(1)
                s.connect((cid, port))
        attempt('cid %d port %d' % (cid, port), reach)
`,
    seconds: 40,
  }),
  closed({
    name: 'none: no metadata service',
    code: `${CONNECTING}
for address in ('169.254.169.254', '169.254.170.2', '100.100.100.200'):
    attempt(address, lambda: tcp(address, 80))
attempt('fd00:ec2::254', lambda: tcp('fd00:ec2::254', 80))
`,
    seconds: 40,
  }),
  closed({
    name: 'none: no fast open and no multipath TCP',
    code: ({ otherHttp }) => `${CONNECTING}
def fast():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.settimeout(2)
        s.sendto(b'GET / HTTP/1.0\\r\\n\\r\\n', 0x20000000, ('127.0.0.1', ${otherHttp.port}))
        return s.recv(100)
attempt('fast open', fast)
def multipath():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as s:
        s.settimeout(2)
        s.connect(('127.0.0.1', ${otherHttp.port}))
        s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
        return s.recv(100)
attempt('multipath', multipath)
`,
  }),
];

/** What may be reached is named with its port; the server answers with the canary, of which only a digest is printed. */
function reaching({ http }: World): string {
  return `${CONNECTING}
import hashlib
got = proxied('http://localhost:${http.port}/')
print('reached', hashlib.sha256(got.strip()).hexdigest())
`;
}

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', Buffer.from(text));
  return Buffer.from(bytes).toString('hex');
}

const allowOf = ({ http }: World): { network: { allow: string[] } } => ({
  network: { allow: [`localhost:${http.port}`] },
});

const ALLOWED: Row[] = [
  {
    group: 'network',
    name: 'allow: reaches the host and port that a rule names',
    language: 'python',
    needs: ['sockets', 'network'],
    spec: allowOf,
    code: reaching,
    seconds: 40,
    check: async ({ out, err, result, world }) => {
      expect(out, err).toBe(`reached ${await digestOf(world.canary)}\n`);
      expect(result.isOk).toBe(true);
      expect(world.http.visits()).toBeGreaterThan(0);
    },
  },
  closed({
    name: 'allow: reaches no other port, address or name',
    needs: ['sockets', 'network'],
    spec: allowOf,
    code: ({ http, otherHttp, hostAddress }) => `${CONNECTING}
attempt('other port', lambda: proxied('http://localhost:${otherHttp.port}/'))
attempt('other name', lambda: proxied('http://example.org:${http.port}/'))
attempt('address', lambda: proxied('http://${hostAddress ?? '192.0.2.1'}:${http.port}/'))
attempt('metadata', lambda: proxied('http://169.254.169.254/'))
attempt('straight on', lambda: tcp('127.0.0.1', ${otherHttp.port}))
attempt('straight out', lambda: tcp('192.0.2.1', 80))
attempt('metadata straight on', lambda: tcp('169.254.169.254', 80))
`,
    seconds: 60,
  }),
  {
    group: 'network',
    name: 'allow: says in the denials what was refused',
    needs: ['python', 'sockets', 'network'],
    seconds: 40,
    async act(kit) {
      const { otherHttp } = kit.world;
      const sandbox = await kit.open(allowOf(kit.world));
      const code = `${CONNECTING}
attempt('other port', lambda: proxied('http://localhost:${otherHttp.port}/'))
`;
      const { denials } = await kit.run(sandbox, { language: 'python', code });
      const targets = denials
        .filter(({ action }) => action === 'net.connect')
        .map(({ target }) => target);
      expect(targets.join(' ')).toContain(`:${otherHttp.port}`);
    },
  },
  {
    group: 'network',
    name: 'allow: keeps two sandboxes with different rules apart',
    needs: ['python', 'sockets', 'network'],
    seconds: 60,
    async act(kit) {
      const { http, canary } = kit.world;
      const [open, shut] = await Promise.all([
        kit.open(allowOf(kit.world)),
        kit.open({ network: 'none' }),
      ]);
      const program = { language: 'python', code: reaching(kit.world) } as const;
      const [reached, refused] = await Promise.all([
        kit.run(open, program),
        kit.run(shut, program),
      ]);
      expect(Buffer.from(reached.stdout).toString()).toContain(await digestOf(canary));
      expect(Buffer.from(refused.stdout).toString()).not.toContain('reached');
      expect(refused.isOk).toBe(false);
      expect(http.visits()).toBeGreaterThan(0);
    },
  },
];

export const NETWORK_ROWS: Row[] = [...NONE, ...ALLOWED];
