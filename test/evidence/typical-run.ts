import { normalise } from '../../src/evidence/normalise/normalise.ts';
import { computeRunId } from '../../src/evidence/run-id.ts';
import type { RunRecord } from '../../src/evidence/run-record.ts';
import type { Decision, Event, FileEvent } from '../../src/observe/event.ts';
import { exec, file, makeRecord, network, NOON_MS, program } from './make-record.ts';
import { makeRandom, pick } from './normalise/seeded-random.ts';

/** Where, when and as whom a run takes place, and what chance brings. */
export interface Circumstances {
  readonly cwd: string;
  readonly home: string;
  readonly tmpdir: string;
  readonly user: string;
  readonly uid: number;
  readonly startMs: number;
  readonly firstPid: number;
  readonly seed: number;
}

export const USUAL: Circumstances = {
  cwd: '/home/me/project',
  home: '/home/me',
  tmpdir: '/tmp/private',
  user: 'me',
  uid: 1000,
  startMs: NOON_MS,
  firstPid: 100_000,
  seed: 1,
};

export const DENIED: Decision = { rule: 'policy.yaml:6:5 fs.deny: ~/.ssh', layer: 'broker' };
export const ALPHANUMERIC = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** An agent at work: it compiles, commits, keeps a session, talks to a server of its own and tries what it may not. */
export function makeRun(circumstances: Circumstances): RunRecord {
  const { cwd, home, tmpdir, user, uid, startMs, firstPid, seed } = circumstances;
  const random = makeRandom(seed);
  const word = (length: number): string => pick(random, ALPHANUMERIC, length);
  const hex = (length: number): string => pick(random, '0123456789abcdef', length);
  const uuid = `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;
  const [day = ''] = new Date(startMs).toISOString().split('T');
  const object = `${cwd}/.git/objects/${hex(2)}`;
  const dashed = cwd.replace(/[^0-9A-Za-z]/g, '-');
  const port = 33_000 + Math.floor(random() * 20_000);
  const pid = firstPid + 17;
  const passing = (path: string, by: number): FileEvent[] => [
    file('create', path, { program: by }),
    file('unlink', path, { program: by }),
  ];
  const save = `${home}/.agent.json.tmp.${pid}.${startMs + 1200}`;
  const packed = `${object}/tmp_obj_${word(6)}`;

  const events: Event[] = [
    ...Array.from({ length: 20 }, () => passing(`/tmp/cc${word(6)}.s`, 2)).flat(),
    file('create', `${cwd}/main.o`, { program: 2 }),
    file('create', `${cwd}/app`, { program: 2 }),
    file('chmod', `${cwd}/app`, { program: 2, target: '755' }),
    file('read', `${cwd}/main.c`, { program: 2 }),
    file('read', '/usr/lib/libc.so', { program: 2 }),
    file('read', '/etc/passwd'),
    file('mkdir', object, { program: 3 }),
    file('create', packed, { program: 3 }),
    file('link', packed, { program: 3, target: `${object}/${hex(38)}` }),
    file('unlink', packed, { program: 3 }),
    file('create', `${cwd}/.git/index.lock`, { program: 3 }),
    file('rename', `${cwd}/.git/index.lock`, {
      program: 3,
      target: `${cwd}/.git/index`,
      isReplacing: true,
    }),
    file('mkdir', `/tmp/agent-${uid}`),
    file('mkdir', `/tmp/agent-${uid}/${dashed}`),
    file('create', `/tmp/agent-${uid}/${dashed}/${word(9).toLowerCase()}.output`),
    file('mkdir', `${tmpdir}/cache-of-${user}`),
    file('create', save),
    file('rename', save, { target: `${home}/.agent.json` }),
    file('create', `${home}/.agent/sessions/${day.replaceAll('-', '/')}/${day}-${uuid}.jsonl`),
    file('mkdir', `${home}/.agent/projects/${dashed}`),
    file('create', `${home}/.agent/run-${pid}.json`),
    file('read', `/proc/${pid}/stat`),
    file('read', `${home}/.ssh/id_rsa`, { outcome: 'EACCES', decision: DENIED }),
    exec('/usr/bin/gcc'),
    exec('/usr/bin/git'),
    network('bind', 'tcp:127.0.0.1:0'),
    network('connect', `tcp:127.0.0.1:${port}`),
    network('connect', 'tcp:10.1.2.3:443'),
  ];
  for (let at = cwd; at !== ''; at = at.slice(0, at.lastIndexOf('/')))
    events.push(file('read', `${at}/AGENTS.md`, { outcome: 'ENOENT' }));
  events.push(file('read', '/AGENTS.md', { outcome: 'ENOENT' }));

  return makeRecord(events, {
    command: ['agent', '--dir', `${cwd}/src`, `--config=${home}/.agent.json`],
    programs: [
      program(1, `${home}/.local/bin/agent`),
      program(2, '/usr/bin/gcc', { parent: 1 }),
      program(3, '/usr/bin/git', { parent: 1, script: `${cwd}/tool.sh` }),
    ],
    variables: { cwd, home, tmpdir, user },
    privateTmp: ['/tmp', '/var/tmp', tmpdir],
    uid,
    startedMs: startMs,
    endedMs: startMs + 5000,
    pids: [{ first: firstPid, last: firstPid + 300 }],
  });
}

export function idOf(record: RunRecord): string {
  return computeRunId(record, normalise(record)).runId;
}

export const BASE = makeRun(USUAL);

export function withEvents(...more: readonly Event[]): RunRecord {
  return { ...BASE, events: [...BASE.events, ...more] };
}

export function withoutEvents(isLeftOut: (event: Event) => boolean): RunRecord {
  return { ...BASE, events: BASE.events.filter((event) => !isLeftOut(event)) };
}
