import * as net from 'node:net';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { PYTHON, runBare, runForSummary } from './run-assay.ts';

interface Attempt {
  readonly op: string;
  readonly path: string;
  readonly rule: { readonly text: string } | null;
}

interface Told {
  readonly code: number | null;
  readonly runId: string | null;
  readonly refusals: readonly Attempt[];
  readonly violations: readonly Attempt[];
}

interface Run {
  readonly place: Place;
  readonly flags: readonly string[];
  readonly script: string;
}

const AGENT = ['--preset', 'coding-agent'];
const GIT = 'git -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main';
const REPOSITORY = `${GIT} init -q . && ${GIT} commit -q --allow-empty -m x`;
const BARE = `${GIT} init -q --bare b.git`;
const connect = (family: string, kind: string, address: string): string =>
  `${PYTHON} -c 'import socket as s; s.socket(s.${family}, s.${kind}).connect(${address})' || true`;

/** A program, the flags it runs under, and what is refused: operation, path from the place on, rule. */
const ACTIONS: readonly (readonly [
  what: string,
  flags: readonly string[],
  setup: string,
  script: string,
  refused: readonly string[],
])[] = [
  ['what is granted', AGENT, '', 'echo > a; mkdir d; mv a d/b; rm -r d', []],
  ['protected configuration', AGENT, '', 'echo > .npmrc', ['write work/.npmrc .npmrc']],
  [
    'every kind of change',
    [],
    'touch f g k; mkdir e',
    'echo > f; mkdir y; ln -s x l; chmod 700 f; touch g; rm f; rmdir e; truncate -s 1 g; mv g h; ln k i',
    [
      'write work/f -',
      'create work/y -',
      'create work/l -',
      'attributes work/f -',
      'attributes work/g -',
      'write work/g -',
      'remove work/f -',
      'remove work/e -',
      'rename work/g -',
      'link work/i -',
    ],
  ],
  ['git configuration', AGENT, REPOSITORY, 'git config a.b c', ['rename work/.git/config -']],
  [
    'git configuration in place',
    AGENT,
    REPOSITORY,
    'echo >> .git/config',
    ['write work/.git/config -'],
  ],
  ['the head of a repository', AGENT, REPOSITORY, 'rm .git/HEAD', ['remove work/.git/HEAD -']],
  ['a whole repository', AGENT, REPOSITORY, 'mv .git g2', ['rename work/g2 *.git/hooks']],
  [
    'a repository in its directory',
    AGENT,
    `mkdir r; cd r; ${REPOSITORY}`,
    'mv r s; git -C s log',
    [],
  ],
  [
    'a repository that was moved',
    AGENT,
    `mkdir r; cd r; ${REPOSITORY}`,
    'git -C r status; mv r s; git -C s config a.b c',
    ['rename work/s/.git/config -'],
  ],
  ['a hook', AGENT, BARE, 'echo > b.git/hooks/x', ['write work/b.git/hooks/x *.git/hooks']],
  [
    'a hook of a directory that is like a repository',
    AGENT,
    'mkdir -p o/objects o/refs o/hooks',
    'echo > o/hooks/pre; echo > o/hooks/a.ts',
    ['write work/o/hooks/pre -'],
  ],
  [
    'a file that leads to a repository',
    AGENT,
    'echo gitdir: x > .git',
    'rm .git',
    ['remove work/.git -'],
  ],
  [
    'ordinary work with git',
    AGENT,
    REPOSITORY,
    `${GIT} commit -q --allow-empty -m y; git checkout -q -b z`,
    [],
  ],
  ['a new repository', AGENT, '', 'git init -q n; git -C n config a.b c', []],
  [
    'a link in the place of a directory with protected names',
    AGENT,
    '',
    'ln -s x .github',
    ['create work/.github .github/workflows'],
  ],
  [
    'a directory with something denied below it',
    [...AGENT, '--deny', './sub/x/secret'],
    'mkdir -p sub/x; echo s > sub/x/secret',
    'mv sub sub2',
    ['rename work/sub2 ./sub/x/secret'],
  ],
  [
    'what is denied behind a link',
    [...AGENT, '--deny', './link/f'],
    'mkdir d; echo s > d/f; ln -s d link',
    'cat d/f',
    ['read work/d/f ./link/f'],
  ],
  [
    'what is denied and not there',
    [...AGENT, '--deny', './.env'],
    '',
    'cat .env; rm .gitconfig; rmdir .idea',
    ['read work/.env ./.env', 'remove work/.gitconfig .gitconfig', 'remove work/.idea .idea'],
  ],
  [
    'what fails in either',
    [...AGENT, '--deny', './.env'],
    'mkdir .vscode',
    'cat no; rm no; mv no .npmrc; chmod 700 .envrc; mkdir .vscode; mkdir no/x; cat ../no',
    [],
  ],
  ['what permissions keep as well', [], '', 'cat /etc/shadow', ['read /etc/shadow /etc/shadow']],
  [
    'the private tmp',
    AGENT,
    '',
    'for at in /tmp /var/tmp "$TMPDIR"; do f=$(mktemp $at/dry-XXXXXX); echo > $f; rm $f; done',
    [],
  ],
  ['lists of what is hidden', [], '', 'ls /home .. /dev', []],
  ['lists of what is not', [], '', 'ls / /etc', ['read / -', 'read /etc -']],
  [
    'what only the broker keeps',
    ['--allow-write', './*.txt'],
    '',
    'echo > a.txt; echo > b; cat ../absent; ls /home; rm nope',
    ['write work/b -', 'read absent -', 'read /home -', 'remove work/nope -'],
  ],
  [
    'what is kept without mounts',
    [...AGENT, '--layers=-mount'],
    '',
    'cat ../absent; ls /home; echo > a; mkdir .vscode',
    ['read /home -', 'create work/.vscode .vscode'],
  ],
  [
    'a file without a name',
    [],
    '',
    `${PYTHON} -c 'import os; os.open(".", os.O_TMPFILE | os.O_RDWR)'`,
    ['write work -'],
  ],
  [
    'a program',
    ['--deny', './prog'],
    'cp /bin/true prog; cp /bin/true other',
    './prog; ./other; ./absent',
    ['exec work/prog ./prog'],
  ],
  [
    'addresses',
    [],
    '',
    `${connect('AF_INET6', 'SOCK_DGRAM', '("2001:db8::1", 80)')}; ${connect('AF_INET', 'SOCK_DGRAM', '("192.0.2.1", 9)')}`,
    ['connect udp:[2001:db8::1]:80 -', 'connect udp:192.0.2.1:9 -'],
  ],
];

function listTold(place: Place, told: readonly Attempt[]): string[] {
  const lines = told.map(
    ({ op, path, rule }) => `${op} ${path.replace(`${place.base}/`, '')} ${rule?.text ?? '-'}`,
  );
  return [...new Set(lines)].sort();
}

describeForEachPerson('a dry run', (person) => {
  const makePlace = usePlaces(person);

  async function run({ place, flags, script }: Run): Promise<Told> {
    const { outcome, summary } = await runForSummary({
      place,
      flags: [...flags, '--observe', 'all'],
      command: ['/bin/sh', '-c', script],
    });
    return { ...(summary as unknown as Told), code: outcome.code };
  }

  /** The same with and without a boundary, each in a place of its own. */
  async function compare(
    flags: readonly string[],
    setup: string,
    script: string,
  ): Promise<{ bounded: string[]; dry: string[]; code: number | null }> {
    const [one, other] = [makePlace(), makePlace()];
    for (const place of [one, other]) await runBare({ place, command: ['/bin/sh', '-c', setup] });
    const bounded = await run({ place: one, flags, script });
    const dry = await run({ place: other, flags: [...flags, '--dry-run'], script });
    expect(dry.refusals).toEqual([]);
    return {
      bounded: listTold(one, bounded.refusals),
      dry: listTold(other, dry.violations),
      code: dry.code,
    };
  }

  it.each(ACTIONS)(
    'tells of %s what a bounded run is refused',
    async (_, flags, setup, script, refused) => {
      const expected = refused.toSorted();
      const { bounded, dry, code } = await compare(flags, setup, `${script}\nexit 0`);
      expect({ bounded, dry }).toEqual({ bounded: expected, dry: expected });
      expect(code).toBe(expected.length > 0 ? 4 : 0);
    },
  );

  it.runIf(person.uid === 0)('tells of files that run with the rights of root', async () => {
    const { bounded, dry } = await compare(AGENT, 'touch f; mkdir d', 'chmod 4755 f; chmod 2755 d');
    expect({ bounded, dry }).toEqual({ bounded: ['setuid work/f -'], dry: ['setuid work/f -'] });
  });

  it('tells of services of the host that a bounded run does not reach', async () => {
    const server = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as net.AddressInfo;
      const script = `
import socket
own = socket.create_server(("127.0.0.1", 0))
socket.create_connection(own.getsockname())
socket.socket().connect_ex(("127.0.0.1", ${port}))`;
      const command = `${PYTHON} -c '${script}'; exit 0`;
      const told = [`connect tcp:127.0.0.1:${port} -`];
      expect((await compare([], '', command)).dry).toEqual(told);
      const allowed = await compare(['--allow-net', `127.0.0.1:${port}`], '', command);
      expect(allowed.dry).toEqual([]);
    } finally {
      server.close();
    }
  });

  it('tells of what a bounded run does not see', async () => {
    const place = makePlace();
    place.write('other/file', 'x');
    const { violations } = await run({ place, flags: ['--dry-run'], script: 'cat ../other/file' });
    expect(listTold(place, violations)).toEqual(['read other/file -']);
  });

  it('has what would have been refused in the evidence, the report and the run id', async () => {
    const place = makePlace();
    place.makeDir('out');
    const profile = ['--profile', place.at('out/p.json'), '--profile-format', 'json'];
    const flags = [...AGENT, ...profile, '--dry-run'];
    const script = 'echo > .npmrc';
    const { runId } = await run({ place, flags, script });
    const evidence = JSON.parse(place.read('out/p.evidence.json')) as object;
    expect(evidence).toMatchObject({
      counters: { refusals: 1 },
      controls: { configuration: { verdict: 'not enforced', refused: 1 } },
      refusals: [
        {
          op: 'write',
          subject: '${CWD}/.npmrc',
          outcome: 'ok',
          rule: 'configuration protection config: .npmrc',
        },
      ],
      changes: { created: ['${CWD}/.npmrc'] },
      run: {
        refusals: [
          {
            op: 'write',
            subject: place.at('work/.npmrc'),
            layer: 'broker',
            hint: 'allow it with --allow-write ./.npmrc',
          },
        ],
      },
    });
    const report = place.read('out/p.json.report.md');
    expect(report).toContain('1 attempt would have been refused');
    expect(report).toContain('## Would have been refused');
    const again = await run({
      place: makePlace(),
      flags: [...AGENT, '--dry-run', ...profile],
      script,
    });
    expect(again.runId).toBe(runId);
    const allowed = [...flags, '--allow-write', './.npmrc'];
    const granted = await run({ place: makePlace(), flags: allowed, script });
    expect(granted.violations).toEqual([]);
    expect(granted.runId).not.toBe(runId);
  });
});
