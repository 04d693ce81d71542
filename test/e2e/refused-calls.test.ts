import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { listGaps, runRecorded } from '../escapes/recorded.ts';
import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { ASSAY, fixture, fixturePath, PYTHON, runBare } from './run-assay.ts';

/** What the filters that engines put around containers refuse to the broker, and all of it together. */
const REFUSED = {
  'Docker 20.10': ['process_vm_readv', 'pidfd_getfd', 'kcmp', 'unshare-fs'],
  'Docker and containerd': ['pidfd_getfd', 'kcmp', 'unshare-fs'],
  Podman: ['kcmp'],
} as const;
const EVERYTHING = REFUSED['Docker 20.10'];

const LAYERS: readonly (readonly [string, readonly string[]])[] = [
  ['every layer', []],
  ['no namespaces', ['--layers=-user,-mount,-pid,-net,-ipc']],
  ['no namespaces and no Landlock', ['--layers=-user,-mount,-pid,-net,-ipc,-landlock']],
];

/** Prints how many files have another mode than the mask of who made them says. */
const FOUR_MASKS = `
import os
def make(mask):
    os.umask(mask)
    wrong = 0
    for number in range(1500):
        name = f'{mask:o}-{number}'
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o666))
        wrong += os.stat(name).st_mode & 0o777 != 0o666 & ~mask
    os._exit(min(wrong, 255))
made = [os.fork() or make(mask) for mask in (0o077, 0o000, 0o027, 0o022)]
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in made])
`;

const INSISTING = ['--preset', 'coding-agent', '--fail-closed'];

let directory: string;
let refuse: string;
beforeAll(() => {
  directory = fs.mkdtempSync('/var/tmp/assay-refuse-');
  refuse = join(directory, 'refuse-calls');
  execFileSync('cc', ['-O1', '-o', refuse, fixturePath('refuse-calls.c')]);
  fs.chmodSync(directory, 0o755);
});
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }));

const without = (...calls: readonly string[]): string[] => [refuse, ...calls, '--'];

describeForEachPerson('where calls of the broker are refused', (person) => {
  const openPlace = usePlaces(person);
  const makePlace = (): Place => {
    const place = openPlace();
    place.makeDir('out');
    return place;
  };

  it.for(
    Object.entries(REFUSED).flatMap(([who, calls]) =>
      LAYERS.map(([name, flags]) => ({ who, calls, name, flags })),
    ),
  )(
    'as by $who, everything ends as it does elsewhere, with $name',
    async ({ calls, name, flags }) => {
      const command = [PYTHON, '-c', fixture('by-descriptor.py')];
      const plain = await runRecorded({ place: makePlace(), command, flags });
      const refused = await runRecorded({
        place: makePlace(),
        command,
        flags,
        prefix: without(...calls),
      });
      const isUncopied = calls.some((call) => call === 'pidfd_getfd');
      // Nothing but a copy would tell the run's own abstract sockets from those of others here.
      const isBlind = isUncopied && name === 'no namespaces and no Landlock';
      const { stdout, code } = plain.outcome;
      expect(refused.outcome).toMatchObject({
        stdout: isBlind ? stdout.replace(/^(unix, abstract) .*$/m, '$1 EACCES') : stdout,
        code,
      });
      if (isBlind) return;
      expect(refused.evidence.entries).toEqual(plain.evidence.entries);
      const isReplaced = isUncopied && flags.length === 0;
      expect(listGaps(refused)).toEqual(
        isReplaced ? ['network: ports that are taken by listen alone are not told'] : [],
      );
    },
  );

  it.for(['file-semantics.py', 'handed-over.py', 'narrow-calls.py'])(
    'file calls of %s give the same inside as outside',
    async (name) => {
      const program = [PYTHON, '-c', fixture(name)];
      const place = makePlace();
      const outside = await runBare({ place, command: program, cwd: place.makeDir('outside') });
      const flags = ['--quiet', '--preset', 'coding-agent', '--observe', 'all'];
      const command = [...without(...EVERYTHING), ASSAY, 'sandbox', ...flags, '--', ...program];
      const inside = await runBare({ place, command });
      expect(inside.stdout.split('\n')).toEqual(outside.stdout.split('\n'));
      expect(inside.code).toBe(0);
    },
  );

  it('nothing is blocked by --dry-run', async () => {
    const place = makePlace();
    const program = `
import os, socket
log, other = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind('log.sock')
other.connect('log.sock')
other.send(b'line')
print(log.recv(9))
os.close(os.open('${place.at('made')}', os.O_CREAT | os.O_WRONLY))
server = socket.create_server(('127.0.0.1', 0))
print(socket.create_connection(server.getsockname()) is not None)
`;
    const dry = [ASSAY, 'sandbox', '--quiet', '--dry-run', '--', PYTHON, '-c', program];
    const outcome = await runBare({ place, command: [...without(...EVERYTHING), ...dry] });
    expect(outcome.stdout).toBe("b'line'\nTrue\n");
    expect(place.has('made')).toBe(true);
    expect(outcome.code).toBe(4);
  });

  it('each program has its own mask', async () => {
    const flags = ['--quiet', '--preset', 'coding-agent'];
    const program = [PYTHON, '-c', FOUR_MASKS];
    const command = [...without(...EVERYTHING), ASSAY, 'sandbox', ...flags, '--', ...program];
    const { stdout } = await runBare({ place: makePlace(), command });
    expect(stdout).toBe('[0, 0, 0, 0]\n');
  });

  it('without the memory of programs there is no broker, which is said before the start', async () => {
    const prefix = without(...EVERYTHING, 'read-memory');
    const run = async (place: Place, ...words: readonly string[]) =>
      await runBare({ place, command: [...prefix, ASSAY, ...words] });
    const place = makePlace();
    const refused = await run(place, 'sandbox', ...INSISTING, '--', 'touch', 'started');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('protected by the broker');
    expect(place.has('work/started')).toBe(false);
    const left = await run(place, 'sandbox', '--verbose', '--', '/bin/echo', 'ran');
    expect(left.stdout).toBe('ran\n');
    expect(left.stderr).toMatch(/broker +absent \(reading memory: EPERM/);
    const doctor = JSON.parse((await run(place, 'doctor', '--json')).stdout) as {
      layers: { layer: string; status: string }[];
      advice: { layer: string; text: string }[];
    };
    expect(doctor.layers).toContainEqual(
      expect.objectContaining({ layer: 'broker', status: 'absent' }),
    );
    expect(doctor.advice).toContainEqual(
      expect.objectContaining({ layer: 'broker', text: expect.stringContaining('SYS_PTRACE') }),
    );
    const command = ['/bin/touch', 'made'];
    const recorded = await runRecorded({ place: makePlace(), command, prefix });
    expect(listGaps(recorded).join('\n')).toMatch(/changes: there is no broker: reading memory/);
  });

  it('without copies of descriptors the broker is partial, in doctor and before the start', async () => {
    const prefix = without('pidfd_getfd');
    const place = makePlace();
    const doctor = await runBare({ place, command: [...prefix, ASSAY, 'doctor'] });
    expect(doctor.stdout).toMatch(/broker +partial +sockets lose the options/);
    expect(doctor.stdout).toContain('broker: in a container: start it with --cap-add SYS_PTRACE');
    const flags = ['--layers=-net', '--allow-net', 'example.org', '--verbose'];
    const command = [...prefix, ASSAY, 'sandbox', ...flags, '--', '/bin/true'];
    const { stderr, code } = await runBare({ place, command });
    expect(code).toBe(0);
    expect(stderr).toMatch(/broker +partial \(sockets lose the options/);
    expect(stderr).toMatch(/WARN: .*example\.org.* is not enforced: .*--cap-add SYS_PTRACE/);
  });

  it('a program that nobody can read is not taken for one that did nothing', async () => {
    const place = makePlace();
    place.write('work/unreadable', fs.readFileSync('/bin/touch'), 0o111);
    const recorded = await runRecorded({ place, command: ['./unreadable', 'made'] });
    expect(place.has('work/made')).toBe(false);
    expect(listGaps(recorded).join('\n')).toMatch(/changes: \d+ calls? could not be read/);
  });
});
