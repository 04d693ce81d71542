import { expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { PYTHON } from '../../e2e/run-assay.ts';
import { OTHER, OWN, runInWorld, WEB } from './world.ts';

const lines = (text: string): string[] => text.split('\n').filter(Boolean);
const allow = (...texts: readonly string[]): string[] =>
  texts.flatMap((text) => ['--allow-net', text]);
/** With a network of its own, and without user namespaces. */
const LAYERS = [[], ['--layers=-user,-mount,-pid,-ipc,-net']];

/** Asks another name server than the one it is told, by every way that there is; a line for each. */
const ASK_OTHERS = `
import errno, socket, sys
question = bytes.fromhex("1234010000010000000000000365786107657861") + b"mple" + bytes.fromhex("036f72670000010001")
def knock(kind, host, port):
    sock = socket.socket(socket.AF_INET, kind)
    sock.settimeout(3)
    sock.connect((host, port))
    sock.sendall(question)
    return "answered" if sock.recv(99) else "closed"
for host in sys.argv[1:]:
    for port in (53, 853):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            try: print(host, port, kind.name, knock(kind, host, port))
            except OSError as error: print(host, port, kind.name, errno.errorcode.get(error.errno, error))
`;

/** The same name every tenth of a second, by plain connections. */
const AGAIN = (name: string): string => `
import socket, time
for _ in range(8):
    try:
        sock = socket.create_connection(("${name}", 80), 3)
        sock.sendall(b"GET / HTTP/1.0\\r\\nHost: ${name}\\r\\n\\r\\n")
        text = b"".join(iter(lambda: sock.recv(999), b""))
        print(text.decode().split("\\n")[-2].split(" ")[0] if text else "nothing")
    except OSError: print("refused")
    time.sleep(0.1)
`;

describeForEachPerson('ways around the rules', (person) => {
  const makePlace = usePlaces(person);

  it('lead to no other name server, on port 53 and 853', async () => {
    const { stdout } = await runInWorld({
      place: makePlace(),
      flags: ['--quiet', ...allow('web.example.org:80')],
      command: [PYTHON, '-c', ASK_OTHERS, WEB, OWN],
      zone: {},
    });
    const kinds = [53, 853].flatMap((port) => [`${port} SOCK_DGRAM`, `${port} SOCK_STREAM`]);
    expect(lines(stdout)).toEqual(
      [WEB, OWN].flatMap((host) => kinds.map((kind) => `${host} ${kind} ENETUNREACH`)),
    );
  });

  it('lead to no name server over HTTPS that is not allowed', async () => {
    const doh =
      'https://dns.example.net/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA29yZwAAAQAB';
    const script = [
      `curl -sS -o /dev/null -w '%{http_connect}\\n' '${doh}' 2>/dev/null`,
      `curl -sS --noproxy '*' '${doh}' 2>&1`,
      `curl -sS --noproxy '*' --resolve dns.example.net:443:${WEB} '${doh}' 2>&1 | cut -c1-10`,
      `curl -sS --doh-url '${doh}' --noproxy '*' http://web.example.org/ 2>&1 | cut -c1-9`,
    ].join('\n');
    const { stdout, asked } = await runInWorld({
      place: makePlace(),
      flags: ['--quiet', ...allow('web.example.org:80')],
      command: ['/bin/sh', '-c', script],
      zone: { 'dns.example.net': [WEB], 'web.example.org': [WEB] },
    });
    expect(lines(stdout)).toEqual([
      '403',
      'curl: (6) Could not resolve host: dns.example.net',
      'curl: (7) ',
      'curl: (6)',
    ]);
    expect(asked).toEqual([]);
  });

  it.each(LAYERS)('by a redirect lead nowhere: %s', async (...layers) => {
    const script = ['', "--noproxy '*'"]
      .flatMap((flag) =>
        ['evil.example.net', '127.0.0.1:80', 'self.example.org'].map(
          (to) => `curl -sSL ${flag} http://web.example.org/moved-to/${to} 2>&1 | cut -c1-17`,
        ),
      )
      .join('\n');
    const { stdout } = await runInWorld({
      place: makePlace(),
      flags: ['--quiet', ...layers.flat(), ...allow('*.example.org')],
      command: ['/bin/sh', '-c', script],
      zone: { 'web.example.org': [WEB], 'self.example.org': [OWN], 'evil.example.net': [WEB] },
    });
    const ends = lines(stdout).map((line) => line.replace(/curl: \((?:7|56|28)\).*/, 'curl: none'));
    expect(ends).toEqual([
      '{"error":"refused',
      'curl: none',
      '{"error":"refused',
      'curl: (6) Could n',
      'curl: none',
      'curl: none',
    ]);
  });

  it.each(LAYERS)('by names that change lead nowhere: %s', async (...layers) => {
    const run = async (answers: readonly (readonly string[])[]) =>
      await runInWorld({
        place: makePlace(),
        flags: ['--quiet', ...layers.flat(), ...allow('rebind.example.org')],
        command: [PYTHON, '-c', AGAIN('rebind.example.org')],
        zone: { 'rebind.example.org': answers },
      });
    const later = await run([[WEB], ['127.0.0.1']]);
    expect(new Set(lines(later.stdout))).toEqual(new Set([`${WEB}:80`]));
    const mixed = await run([['127.0.0.1', OWN, WEB], ['127.0.0.1']]);
    expect(new Set(lines(mixed.stdout))).toEqual(new Set([`${WEB}:80`]));
    const only = await run([['127.0.0.1'], [WEB]]);
    expect(lines(only.stdout)).not.toContain('127.0.0.1:80');
  });

  it.each(LAYERS)('do not lead through another run with other rules: %s', async (...layers) => {
    const fetch = (tag: string): string[] => [
      '/bin/sh',
      '-c',
      ['web.example.org', 'other.example.org']
        .flatMap((name) =>
          ['', "--noproxy '*'"].map(
            (flag) =>
              `curl -sSf ${flag} http://${name}/ 2>/dev/null | sed 's/^/${tag} /' | grep . || echo ${tag} no`,
          ),
        )
        .concat('sleep 1')
        .join('\n'),
    ];
    const flags = (name: string): string[] => ['--quiet', ...layers.flat(), ...allow(name)];
    const { stdout } = await runInWorld({
      place: makePlace(),
      flags: flags('web.example.org'),
      command: fetch('one'),
      alongside: [{ flags: flags('other.example.org'), command: fetch('two') }],
      zone: { 'web.example.org': [WEB], 'other.example.org': [OTHER] },
    });
    const of = (tag: string): string[] => lines(stdout).filter((line) => line.startsWith(tag));
    const web = `${WEB}:80 for web.example.org`;
    const other = `${OTHER}:80 for other.example.org`;
    expect(of('one')).toEqual([`one ${web}`, `one ${web}`, 'one no', 'one no']);
    expect(of('two')).toEqual(['two no', 'two no', `two ${other}`, `two ${other}`]);
  });
});
