import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
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
