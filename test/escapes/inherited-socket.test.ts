import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Evidence } from '../../src/evidence/evidence.ts';
import { describeForEachPerson } from '../e2e/as-user.ts';
import { usePlaces } from '../e2e/place.ts';
import { ASSAY, fixture, makeEnv, PYTHON } from '../e2e/run-assay.ts';

/** Starts a command with a socket of the host as its standard input, beside a server that tells a secret. */
const STARTER = `
import socket, subprocess, sys, threading
kind = getattr(socket, sys.argv[1])
server = socket.socket(socket.AF_INET, kind)
server.bind(("127.0.0.1", 0))
def tell():
    if kind == socket.SOCK_DGRAM: server.sendto(b"the secret", server.recvfrom(9)[1])
    else:
        server.listen()
        while True: server.accept()[0].sendall(b"the secret")
threading.Thread(target=tell, daemon=True).start()
other = socket.socket(socket.AF_INET, kind)
other.bind(("127.0.0.1", 0))
if kind == socket.SOCK_STREAM: other.listen()
given = socket.socket(socket.AF_INET, kind)
given.connect(other.getsockname())
words = [word.replace("@PORT@", str(server.getsockname()[1])) for word in sys.argv[2:]]
sys.exit(subprocess.run(words, stdin=given).returncode)
`;

describeForEachPerson('a socket of the host as standard input', (person) => {
  const makePlace = usePlaces(person);
  const attack = [PYTHON, '-c', fixture('reuse-socket.py'), '@PORT@'];

  function run(kind: string, before: readonly string[]) {
    const place = makePlace();
    const words = [...person.prefix, PYTHON, '-c', STARTER, kind, ...before, ...attack];
    const { stdout, stderr, status } = spawnSync(words[0] ?? '', words.slice(1), {
      cwd: place.work,
      env: makeEnv(place),
      encoding: 'utf8',
      timeout: 30_000,
    });
    return { stdout, stderr, status };
  }

  it.each(['SOCK_STREAM', 'SOCK_DGRAM'])('is a way to the host without the sandbox: %s', (kind) => {
    expect(run(kind, []).stdout).toBe('started\ngot the secret\n');
  });

  it.each(
    ['SOCK_STREAM', 'SOCK_DGRAM'].flatMap((kind) =>
      ['', '--layers=-broker', '--layers=-net', '--layers=-user', '--allow-net=example.org'].map(
        (flag) => [kind, flag] as const,
      ),
    ),
  )('is none inside, where nothing is started with it: %s %s', (kind, flag) => {
    const flags = ['--quiet', ...(flag === '' ? [] : [flag])];
    const { stdout, stderr, status } = run(kind, [ASSAY, 'sandbox', ...flags, '--']);
    expect([stdout, status]).toEqual(['', 3]);
    expect(stderr).toContain("standard input is a socket of the host's network");
  });
});

/** Hands a socket of the host to the command, by the unix socket that is its standard input. */
const HANDING = `
import socket, subprocess, sys, threading
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
def tell():
    while True: server.accept()[0].sendall(b"the secret")
threading.Thread(target=tell, daemon=True).start()
ours, given = socket.socketpair()
handed = [socket.socket(), socket.socket()]
socket.send_fds(ours, [b"x"], [one.fileno() for one in handed])
words = [word.replace("@PORT@", str(server.getsockname()[1])) for word in sys.argv[1:]]
sys.exit(subprocess.run(words, stdin=given).returncode)
`;

const TAKING = `
import errno, socket, sys
_, fds, *_ = socket.recv_fds(socket.socket(fileno=0), 9, 2)
def say(what):
    try: print(what())
    except OSError as error: print(errno.errorcode[error.errno])
def connect():
    sock = socket.socket(fileno=fds[0])
    sock.connect(("127.0.0.1", int(sys.argv[1])))
    return "got " + sock.recv(99).decode()
def bind():
    socket.socket(fileno=fds[1]).bind(("127.0.0.1", 0))
    return "bound"
say(connect)
say(bind)
`;

describeForEachPerson('a socket of the host that somebody hands over', (person) => {
  const makePlace = usePlaces(person);

  function run(before: readonly string[], place = makePlace()): { stdout: string; stderr: string } {
    const attack = [PYTHON, '-c', TAKING, '@PORT@'];
    const words = [...person.prefix, PYTHON, '-c', HANDING, ...before, ...attack];
    return spawnSync(words[0] ?? '', words.slice(1), {
      cwd: place.work,
      env: makeEnv(place),
      encoding: 'utf8',
      timeout: 30_000,
    });
  }

  it('is a way to the host without the sandbox', () => {
    expect(run([]).stdout).toBe('got the secret\nbound\n');
  });

  it.each(['', '--layers=-net', '--layers=-user', '--layers=-landlock', '--allow-net=example.org'])(
    'leads nowhere inside: %s',
    (flag) => {
      const flags = ['--quiet', ...(flag === '' ? [] : [flag])];
      expect(run([ASSAY, 'sandbox', ...flags, '--']).stdout).toBe('EACCES\nEACCES\n');
    },
  );

  it('is named as what refused it, with no flag that would not help', () => {
    const place = makePlace();
    const { stderr } = run(
      [ASSAY, 'sandbox', '--profile', '../p', '--profile-format=json', '--'],
      place,
    );
    expect(stderr).toMatch(
      /refused: connect tcp:127\.0\.0\.1:\d+ \(socket of another network\)(?!;)/,
    );
    const evidence = place.read('p.evidence.json');
    const { run: facts } = JSON.parse(evidence) as Evidence;
    expect(facts.refusals.map(({ op, rule, hint }) => [op, rule, hint])).toEqual([
      ['bind', 'socket of another network', null],
      ['connect', 'socket of another network', null],
    ]);
  });
});
