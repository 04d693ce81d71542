import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Evidence } from '../../../src/evidence/evidence.ts';
import { describeForEachPerson } from '../../e2e/as-user.ts';
import { usePlaces } from '../../e2e/place.ts';
import { fixture, PYTHON } from '../../e2e/run-assay.ts';
import { runInWorld } from './world.ts';

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** A server of the program on a port of its own, and one on a port that is the host's. */
const SERVE = `
import socket, threading
def serve(port):
    own = socket.socket()
    own.bind(("127.0.0.1", port))
    own.listen()
    while True:
        peer = own.accept()[0]
        peer.recv(999)
        peer.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\ninside\\n")
        peer.close()
for port in (9999, 8080): threading.Thread(target=serve, args=(port,), daemon=True).start()
`;

describeForEachPerson('ports of the host that are named', (person) => {
  const makePlace = usePlaces(person);

  // With one door for all, with one made for each, and where the broker connects itself.
  it.each(['', '--layers=-nft', '--layers=-net'])(
    'are reached by plain connections to loopback, and no others are: %s',
    async (layers) => {
      const script = [
        'curl -sS http://127.0.0.1:8080/',
        'curl -sS http://localhost:8080/',
        "curl -sS --noproxy '*' http://127.0.0.1/ || echo no",
        'curl -sS -p -x http://127.0.0.1:3128 --noproxy "" http://127.0.0.1:8080/',
        `${PYTHON} -c 'import socket; s = socket.create_connection(("127.0.0.1", 8080)); s.send(b"GET / HTTP/1.0\\r\\n\\r\\n"); print(s.recv(999)[:15].decode())'`,
      ].join('\n');
      const { stdout } = await runInWorld({
        place: makePlace(),
        flags: ['--quiet', '--allow-net', 'localhost:8080', ...(layers === '' ? [] : [layers])],
        command: ['/bin/sh', '-c', script],
      });
      expect(lines(stdout)).toEqual([
        '127.0.0.1:8080 for 127.0.0.1:8080',
        '127.0.0.1:8080 for localhost:8080',
        'no',
        '127.0.0.1:8080 for 127.0.0.1:8080',
        'HTTP/1.0 200 OK',
      ]);
    },
  );

  it.each([
    { rule: 'localhost:8080', at: '::1', answer: 'HTTP/1.0 200 OK' },
    { rule: '[::1]:8080', at: '::1', answer: 'ECONNRESET' },
  ])('answer at $at to $rule where they listen at 127.0.0.1: $answer', async (row) => {
    const script = `import errno, socket
try:
    s = socket.create_connection(("${row.at}", 8080))
    s.send(b"GET / HTTP/1.0\\r\\n\\r\\n")
    print(s.recv(999)[:15].decode())
except OSError as problem: print(errno.errorcode[problem.errno])`;
    const { stdout } = await runInWorld({
      place: makePlace(),
      flags: ['--quiet', '--allow-net', row.rule],
      command: [PYTHON, '-c', script],
    });
    expect(lines(stdout)).toEqual([row.answer]);
  });

  it('leave the rest of loopback to the program', async () => {
    const ask = (port: number): string => `curl -sS http://127.0.0.1:${port}/`;
    const script = `${SERVE}\nimport subprocess, time\ntime.sleep(0.2)\nsubprocess.run(["/bin/sh", "-c", "${ask(9999)}; ${ask(8080)}; ${ask(81)} || echo no"])`;
    const { stdout } = await runInWorld({
      place: makePlace(),
      flags: ['--quiet', '--allow-net', '127.0.0.1:8080'],
      command: [PYTHON, '-c', script],
    });
    expect(lines(stdout)).toEqual(['inside', '127.0.0.1:8080 for 127.0.0.1:8080', 'no']);
  });

  it('do not take the doors along', async () => {
    const targets = ['tcp:127.0.0.1:3129', 'tcp:127.0.0.1:1'];
    const { stdout } = await runInWorld({
      place: makePlace(),
      flags: ['--quiet', '--allow-net', 'loopback:1-65535', '--allow-net', 'web.example.org'],
      command: [
        '/bin/sh',
        '-c',
        `curl -sS http://web.example.org/; ${PYTHON} -c '${fixture('knock.py')}' ${targets.join(' ')}`,
      ],
      zone: { 'web.example.org': ['11.1.1.1'] },
    });
    expect(lines(stdout)).toEqual([
      '11.1.1.1:80 for web.example.org',
      'tcp:127.0.0.1:3129 ECONNRESET',
      'tcp:127.0.0.1:1 ECONNRESET',
    ]);
  });

  it.each(['', '--layers=-net'])("are the host's in the record: %s", async (layers) => {
    const place = makePlace();
    const out = `${place.makeDir('out')}/run.yaml`;
    await runInWorld({
      place,
      flags: ['--quiet', '--allow-net', '127.0.0.1:8080', '--profile', out].concat(layers || []),
      command: ['/bin/sh', '-c', 'curl -sS http://127.0.0.1:8080/'],
    });
    const evidence = parse(place.read('out/run.evidence.yaml')) as Evidence;
    const inet = Object.keys(evidence.entries.network).filter((at) => !at.startsWith('unix:'));
    expect(inet).toEqual(['tcp:host-loopback:8080']);
    expect(evidence.statements.join('\n')).not.toContain('but over loopback');
    expect(place.read('out/run.yaml')).toContain('127.0.0.1:8080');
  });

  it.each(['', '--layers=-net'])(
    'are not reached when their rule has ended: %s',
    async (layers) => {
      const place = makePlace();
      const out = `${place.makeDir('out')}/run.yaml`;
      const policy = place.write(
        'policy.yaml',
        'net: { allow: [{ host: "127.0.0.1:8080", for: 1ms }] }',
      );
      const { stdout, stderr } = await runInWorld({
        place,
        flags: ['--policy', policy, '--profile', out].concat(layers || []),
        command: ['/bin/sh', '-c', 'curl -sS http://127.0.0.1:8080/ || echo no'],
      });
      expect(lines(stdout)).toEqual(['no']);
      expect(stderr).toContain('(the rule for it has ended)');
      const evidence = parse(place.read('out/run.evidence.yaml')) as Evidence;
      const ended = expect.stringMatching(/127\.0\.0\.1:8080 \(ended 0\.001 s after the start\)$/);
      expect(evidence.refusals).toMatchObject([{ subject: 'tcp:host-loopback:8080', rule: ended }]);
    },
  );

  // Where a door has accepted it, the program sees a reset; the record says why.
  it.each([
    { layers: '', seen: 'ECONNRESET' },
    { layers: '--layers=-net', seen: 'ECONNREFUSED' },
  ])('are refused in the record where nobody listens: $seen $layers', async ({ layers, seen }) => {
    const place = makePlace();
    const out = `${place.makeDir('out')}/run.yaml`;
    const script = `import errno, socket
try:
    socket.create_connection(("127.0.0.1", 9)).recv(1)
except OSError as problem: print(errno.errorcode[problem.errno])`;
    const { stdout } = await runInWorld({
      place,
      flags: ['--quiet', '--allow-net', '127.0.0.1:9', '--profile', out].concat(layers || []),
      command: [PYTHON, '-c', script],
    });
    expect(lines(stdout)).toEqual([seen]);
    const evidence = parse(place.read('out/run.evidence.yaml')) as Evidence;
    const { connect } = evidence.entries.network['tcp:host-loopback:9'] ?? {};
    expect(Object.keys(connect ?? {})).toEqual(['ECONNREFUSED']);
  });
});
