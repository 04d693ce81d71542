import { describe, expect, it } from 'vitest';

import { Copy } from './copy.ts';
import { type RecordedRun, runRecorded } from './evidence.ts';
import { writeTree } from './workload.ts';

/** What every run does, so that a difference is one line among others. */
const BASE = `cat input.txt >/dev/null
echo a > out.txt
mkdir made
mv moved.txt made/there.txt
python3 endpoints.py
`;

const BASE_ENDPOINTS = 'tcp connect 127.0.0.1 9';

interface Difference {
  readonly what: string;
  /** Comes after the base. */
  readonly script?: string;
  /** Instead of a line of the base. */
  readonly instead?: readonly [line: string, other: string];
  readonly endpoints?: string;
}

const DIFFERENCES: readonly Difference[] = [
  { what: 'another file name', instead: ['out.txt', 'other.txt'] },
  { what: 'another case of a name', instead: ['out.txt', 'Out.txt'] },
  { what: 'a hidden name', instead: ['out.txt', '.out.txt'] },
  { what: 'a trailing space in a name', instead: ['out.txt', "'out.txt '"] },
  { what: 'a line break in a name', instead: ['out.txt', "$'out\\n.txt'"] },
  { what: 'a byte that is no UTF-8 in a name', instead: ['out.txt', "$'out\\xff.txt'"] },
  { what: 'another such byte', instead: ['out.txt', "$'out\\xfe.txt'"] },
  { what: 'that byte spelled out', instead: ['out.txt', "'out\\xff.txt'"] },
  { what: 'a name with a number', instead: ['out.txt', 'out-2024.txt'] },
  { what: 'a name with another number', instead: ['out.txt', 'out-2025.txt'] },
  { what: 'a name with a date', instead: ['out.txt', 'out-20240101.txt'] },
  { what: 'a name with a digest', instead: ['out.txt', 'main.4f3c2a1b.js'] },
  { what: 'another directory', instead: ['> out.txt', '> sub/out.txt'] },
  { what: 'nothing written', instead: ['echo a > out.txt', 'echo a'] },
  { what: 'an existing file written', instead: ['> out.txt', '> input.txt'] },
  { what: 'an existing file appended to', script: 'echo a >> sub/kept.txt' },
  { what: 'another directory made', instead: ['mkdir made', 'mkdir made more'] },
  { what: 'another target of a rename', instead: ['there.txt', 'elsewhere.txt'] },
  { what: 'a rename that replaces', instead: ['made/there.txt', 'sub/kept.txt'] },
  { what: 'a copy instead of a rename', instead: ['mv ', 'cp '] },
  { what: 'a removed file', script: 'rm input.txt' },
  { what: 'another removed file', script: 'rm sub/kept.txt' },
  { what: 'a removed directory', script: 'rmdir empty' },
  { what: 'a symbolic link', script: 'ln -s out.txt link' },
  { what: 'a symbolic link to something else', script: 'ln -s input.txt link' },
  { what: 'a hard link', script: 'ln out.txt link' },
  { what: 'a file that can be executed', script: 'chmod +x input.txt' },
  { what: 'a file that others can write', script: 'chmod o+w input.txt' },
  { what: 'a file with another time', script: 'touch -d @1 input.txt' },
  { what: 'a truncated file', script: 'truncate -s 0 input.txt' },
  { what: 'a pipe', script: 'mkfifo pipe' },
  { what: 'another file read', script: 'cat sub/kept.txt' },
  { what: 'a file that is not there', script: 'cat absent.txt' },
  { what: 'a secret that is not there', script: 'cat ~/.ssh/id_rsa' },
  { what: 'a refused read', script: 'cat /etc/shadow' },
  { what: 'a refused write', script: 'touch /etc/other' },
  { what: 'a refused write elsewhere', script: 'touch /usr/other' },
  { what: 'protected configuration', script: 'echo x > .bashrc' },
  { what: 'a git hook', script: 'git init -q r; echo x > r/.git/hooks/pre-commit' },
  { what: 'another program', script: 'id >/dev/null' },
  { what: 'another program with the same effect', instead: ['cat input.txt', 'head input.txt'] },
  { what: 'another parent of a program', instead: ['cat input', 'dash -c \'cat "$0"\' input'] },
  { what: 'a program that is not there', script: '/usr/bin/absent' },
  { what: 'a program made in the run', script: "printf '#!/bin/sh\\n' > s; chmod +x s; ./s" },
  { what: 'an exit code', script: 'exit 1' },
  { what: 'another exit code', script: 'exit 2' },
  { what: 'a signal', script: 'kill -9 $$' },
  { what: 'an ordinary name in the private tmp', script: 'echo > $TMPDIR/report.txt' },
  { what: 'another port', endpoints: 'tcp connect 127.0.0.1 10' },
  { what: 'another address', endpoints: 'tcp connect 127.0.0.2 9' },
  { what: 'an address outside', endpoints: 'tcp connect 192.0.2.1 9' },
  { what: 'another protocol', endpoints: 'udp connect 127.0.0.1 9' },
  { what: 'a port that is listened on', endpoints: 'tcp bind 127.0.0.1 8080' },
  { what: 'another port that is listened on', endpoints: 'tcp bind 127.0.0.1 8081' },
  { what: 'a unix socket', endpoints: 'unix bind socket 0' },
];

/** Reads what to do from its own text, so that no command line differs. */
const PROGRAM = `import socket
kind, call, host, port = ENDPOINT.split()
family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
s.settimeout(1)
try:
    getattr(s, call)(host if kind == "unix" else (host, int(port)))
except OSError:
    pass
`;

/** Only the text of the script differs: the command, the directory and its files are the same in every run. */
async function run({
  script = '',
  instead,
  endpoints = BASE_ENDPOINTS,
}: Partial<Difference>): Promise<RecordedRun> {
  const [line = '', other = ''] = instead ?? [];
  const base = BASE.replace(line, () => other);
  if (instead !== undefined && base === BASE) throw new Error(`The base has no ${line}`);
  const workload = {
    command: ['/bin/bash', 'work.sh'],
    prepare: (dir: string): void =>
      writeTree(dir, {
        'work.sh': `${base}${script}\n`,
        'endpoints.py': `ENDPOINT = "${endpoints}"\n${PROGRAM}`,
        'input.txt': 'input\n',
        'moved.txt': 'moved\n',
        'sub/kept.txt': 'kept\n',
        'empty/': '',
      }),
  };
  using copy = new Copy({ workload });
  return await runRecorded({ copy, workload });
}

describe('A run id', () => {
  it('is the same for the same behaviour, whatever the script that leads to it', async () => {
    const ids = [
      await run({}),
      await run({}),
      await run({ script: '# a remark' }),
      await run({ script: 'x=1; for i in 1 2 3; do x=$((x * i)); done' }),
      await run({ instead: ['echo a > out.txt', 'echo another content > out.txt'] }),
    ].map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^sandbox_[0-9a-f]{16}$/);
  });

  it('is another one for each small difference', { timeout: 180_000 }, async () => {
    const known = new Map([[(await run({})).runId, 'the base']]);
    const equal: string[] = [];
    for (const difference of DIFFERENCES) {
      const { runId } = await run(difference);
      const other = known.get(runId);
      if (other !== undefined) equal.push(`${difference.what} looks like ${other}`);
      known.set(runId, difference.what);
    }
    expect(equal).toEqual([]);
    expect(DIFFERENCES.length).toBeGreaterThanOrEqual(40);
  });
});
