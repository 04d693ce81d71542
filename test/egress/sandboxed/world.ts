import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from '../../e2e/place.ts';
import { ASSAY, fixturePath, type Outcome, PYTHON, runBare } from '../../e2e/run-assay.ts';

/** Addresses of the internet, here in a network that the test makes. */
export const WEB = '11.1.1.1';
export const OTHER = '11.2.2.2';
/** The machine's own address in it. */
export const OWN = '11.9.9.9';
/** Another one, which is on no link: the kernel alone knows that it is the machine's. */
export const HIDDEN_OWN = '11.77.1.1';

export interface WorldRun {
  readonly place: Place;
  readonly flags: readonly string[];
  readonly command: readonly string[];
  /** Lines of the host's /etc/hosts. */
  readonly hosts?: string;
  /** What its name server knows. */
  readonly zone?: Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>;
  /** Other runs at the same time, which print to the same place. */
  readonly alongside?: readonly Pick<WorldRun, 'flags' | 'command'>[];
  /** A file with a key and a certificate, for servers on port 443 as well. */
  readonly certificate?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A directory that the web servers hand out, besides saying who they are at `/`. */
  readonly files?: string;
  /** Lines that the host's list of users has besides its own. */
  readonly passwd?: string;
  /** Programs that run in the internet meanwhile. */
  readonly services?: readonly (readonly string[])[];
}

export interface WorldOutcome extends Outcome {
  /** Names that left the host. */
  readonly asked: readonly string[];
  /** Sizes of what was posted to a web server. */
  readonly posted: readonly number[];
  /** The server, and the Authorization of each GET. */
  readonly credentials: readonly (readonly [string, string | null])[];
}

/** `assay sandbox` on a machine whose internet is WEB and OTHER, with a web server on port 80 and 8080 of each, and of itself. */
export async function runInWorld(run: WorldRun): Promise<WorldOutcome> {
  const { place, flags, command, hosts = '', zone = {}, certificate, env = {} } = run;
  const { files, passwd, services, alongside = [] } = run;
  const log = join(tmpdir(), `assay-world-${process.pid}-${performance.now()}`);
  const { prefix } = place.person;
  const toCommand = (one: Pick<WorldRun, 'flags' | 'command'>): string[] => [
    ...prefix,
    ASSAY,
    'sandbox',
    ...one.flags,
    '--',
    ...one.command,
  ];
  const world = {
    addresses: [WEB, OTHER],
    own: [OWN],
    ownRange: '11.77.0.0',
    servers: [WEB, OTHER, OWN, HIDDEN_OWN, '127.0.0.1'].flatMap((address) =>
      [80, 8080, ...(certificate === undefined ? [] : [443])].map((port) => [address, port]),
    ),
    hosts,
    zone,
    certificate,
    files,
    passwd,
    services,
    log,
    alongside: alongside.map(toCommand),
    command: toCommand({ flags, command }),
  };
  const isRoot = process.getuid?.() === 0;
  const unshare = ['/usr/bin/unshare', ...(isRoot ? [] : ['-Ur']), '-mn'];
  const outside = [...unshare, PYTHON, fixturePath('world.py'), JSON.stringify(world)];
  try {
    const person = { ...place.person, prefix: [] };
    const outcome = await runBare({
      place: Object.create(place, { person: { value: person } }) as Place,
      command: outside,
      env,
    });
    return {
      ...outcome,
      ...(JSON.parse(readFileSync(log, 'utf8')) as Pick<
        WorldOutcome,
        'asked' | 'posted' | 'credentials'
      >),
    };
  } finally {
    rmSync(log, { force: true });
  }
}
