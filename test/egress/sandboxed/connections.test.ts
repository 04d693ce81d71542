import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixturePath, PYTHON } from '../../e2e/run-assay.ts';
import { HIDDEN_OWN, OTHER, OWN, runInWorld, WEB } from './world.ts';

const zone = {
  'web.example.org': [WEB],
  'api.example.net': [OTHER],
  'inside.example.net': ['127.0.0.1'],
  'no.example.com': [WEB],
};

const POLICY = `api_version: assay/v1
extends: [coding-agent]
net:
  allow: [web.example.org, "*.example.net:8080", "${OTHER}:80"]
`;

let dir: string;
let program: Buffer;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'fetch-address-'));
  const file = join(dir, 'fetch-address');
  execFileSync('cc', ['-static', '-O1', '-o', file, fixturePath('fetch-address.c')]);
  program = readFileSync(file);
});
afterAll(() => rmSync(dir, { recursive: true }));

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

describeForEachPerson('connections of a run', (person) => {
  const makePlace = usePlaces(person);

  /** Each line is a command, whose outcome stands on one line; what takes longer than a second says so. */
  async function runLines(commands: readonly string[]) {
    const place = makePlace();
    const policy = place.write('policy.yaml', POLICY);
    place.write('work/fetch-address', program, 0o755);
    const script = commands
      .map(
        (line) =>
          `s=$(date +%s%N)\n${line} 2>&1 || echo "= $?"\n[ $(($(date +%s%N) - s)) -lt 2000000000 ] || echo slow`,
      )
      .join('\n');
    const flags = ['--quiet', '--policy', policy];
    return await runInWorld({ place, flags, command: ['/bin/sh', '-c', script], zone });
  }

  it('reach what is allowed by name, whether the program knows of proxies or not', async () => {
    const fetch = `fetch("http://web.example.org/").then((r) => r.text()).then((t) => process.stdout.write(t))`;
    const py = `import urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open("http://api.example.net:8080/").read().decode(), end="")`;
    const { stdout, asked } = await runLines([
      `curl -sS --noproxy '*' http://web.example.org/`,
      `curl -sS --noproxy '*' http://web.example.org:8080/`,
      'curl -sS http://web.example.org/',
      'curl -sS -p -x http://127.0.0.1:3128 http://web.example.org/',
      'curl -sS -x socks5h://127.0.0.1:3128 http://web.example.org/',
      `${process.execPath} -e '${fetch}'`,
      `${PYTHON} -c '${py}'`,
      `./fetch-address $(getent hosts web.example.org | cut -d' ' -f1) 80 web.example.org`,
      `./fetch-address ${OTHER} 80 ${OTHER}`,
    ]);
    expect(lines(stdout)).toEqual([
      `${WEB}:80 for web.example.org`,
      `${WEB}:8080 for web.example.org:8080`,
      `${WEB}:80 for web.example.org`,
      `${WEB}:80 for web.example.org`,
      `${WEB}:80 for web.example.org`,
      `${WEB}:80 for web.example.org`,
      `${OTHER}:8080 for api.example.net:8080`,
      `${WEB}:80 for web.example.org`,
      `${OTHER}:80 for ${OTHER}`,
    ]);
    expect(asked).toEqual(['api.example.net', 'web.example.org']);
  });

  it('are refused at once elsewhere', async () => {
    const { stdout, asked } = await runLines([
      `curl -sS --noproxy '*' http://no.example.com/`,
      `curl -sS --noproxy '*' http://api.example.net/`,
      `curl -sS --noproxy '*' http://inside.example.net:8080/`,
      `curl -sS --noproxy '*' http://web.example.org:81/`,
      'curl -sS -o /dev/null -w "%{http_code}\\n" http://no.example.com/',
      'curl -sS -p -o /dev/null -w "%{http_connect}\\n" http://no.example.com/',
      `./fetch-address ${WEB} 80 x`,
      `./fetch-address ${OTHER} 8080 x`,
      './fetch-address 198.18.99.99 80 x',
      './fetch-address 127.0.0.1 8080 x',
    ]);
    // Curl tells them apart by whether it had seen itself connected before the reset.
    const resets = /curl: \((?:7|56)\) (?:Failed to connect|Recv failure).*\n= (?:7|56)/g;
    expect(lines(stdout.replaceAll(resets, 'reset'))).toEqual([
      'curl: (6) Could not resolve host: no.example.com',
      '= 6',
      'reset',
      'reset',
      'reset',
      '403',
      'curl: (56) CONNECT tunnel failed, response 403',
      '403',
      '= 56',
      'Network is unreachable',
      '= 1',
      'Connection reset by peer',
      '= 1',
      'Connection reset by peer',
      '= 1',
      'Connection refused',
      '= 1',
    ]);
    expect(asked).toEqual(['api.example.net', 'inside.example.net', 'web.example.org']);
  });

  it.each([OWN, HIDDEN_OWN])('reach the host at %s only where that is named', async (own) => {
    const script = [80, 8080]
      .flatMap((port) => [
        `curl -sS --noproxy '*' http://${own}:${port}/ || echo no`,
        `curl -sS --noproxy '*' http://self.example.org:${port}/ || echo no`,
        `curl -sS http://self.example.org:${port}/ | cut -c1-40`,
      ])
      .join('\n');
    const allowed = ['11.0.0.0/8', '*:80', 'self.example.org', `${own}:8080`];
    const { stdout, stderr } = await runInWorld({
      place: makePlace(),
      flags: allowed.flatMap((text) => ['--allow-net', text]),
      command: ['/bin/sh', '-c', script],
      zone: { 'self.example.org': [own] },
    });
    expect(lines(stdout)).toEqual([
      'no',
      'no',
      '{"error":"refused","host":"self.example.',
      `${own}:8080 for ${own}:8080`,
      `${own}:8080 for self.example.org:8080`,
      `${own}:8080 for self.example.org:8080`,
    ]);
    expect(stderr).toContain(
      `refused: connect to ${own}:80 (${own} is an address of this host); allow it with --allow-net ${own}:80`,
    );
  });

  it('that were refused are told at the end, with the flag that would allow them', async () => {
    const command = [
      '/bin/sh',
      '-c',
      'curl -s http://no.example.com:81/; getent hosts no.example.com',
    ];
    const flags = ['--allow-net', 'web.example.org'];
    const { stderr } = await runInWorld({ place: makePlace(), flags, command, zone });
    expect(lines(stderr).slice(-2)).toEqual([
      'assay: refused: connect to no.example.com:81 (no rule allows no.example.com); allow it with --allow-net no.example.com:81',
      'assay: refused: connect to no.example.com (no rule allows no.example.com); allow it with --allow-net no.example.com',
    ]);
  });

  it('made just before the end are told, and what was sent by then arrives', async () => {
    const script = `
import os, socket
sockets = []
for last in range(1, 21):
    sockets.append(socket.socket())
    sockets[-1].setblocking(False)
    sockets[-1].connect_ex(("198.18.77.%d" % last, 443))
post = socket.create_connection((socket.gethostbyname("web.example.org"), 80))
post.sendall(b"POST / HTTP/1.1\\r\\nHost: web.example.org\\r\\nContent-Length: 300000\\r\\n\\r\\n" + b"x" * 300000)
os._exit(0)`;
    const flags = ['--allow-net', 'web.example.org'];
    const command = [PYTHON, '-c', script];
    const { stderr, posted } = await runInWorld({ place: makePlace(), flags, command, zone });
    expect(lines(stderr).at(-1)).toBe('assay: refused: 15 more places');
    expect(posted).toEqual([300_000]);
  });
});
