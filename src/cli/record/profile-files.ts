import { realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { AssayError } from '../../core/errors.ts';
import type { FlagValues } from '../flag-values.ts';

export type ProfileFormat = 'yaml' | 'json';

/** The three artifacts of a run, under the names that belong to `--profile`. */
export interface ProfileFiles {
  readonly name: string;
  readonly format: ProfileFormat;
  readonly policy: AtomicFile;
  readonly evidence: AtomicFile;
  readonly report: AtomicFile;
}

const POLICY = 'the suggested policy';
const EVIDENCE = 'the evidence';
const REPORT = 'the report';

interface ProfilePaths {
  readonly name: string;
  readonly format: ProfileFormat;
  readonly policy: string;
  readonly evidence: string;
  readonly report: string;
}

function readProfilePaths(flags: FlagValues): ProfilePaths | undefined {
  const policy = flags.text('profile');
  if (policy === undefined) return undefined;
  const format = (flags.text('profile-format') ?? 'yaml') as ProfileFormat;
  const name = basename(policy, extname(policy));
  const evidence = join(dirname(policy), `${name}.evidence.${format}`);
  const report = flags.text('profile-report') ?? `${policy}.report.md`;
  return { name, format, policy, evidence, report };
}

interface Artifact {
  readonly what: string;
  readonly path: string;
}

function listArtifacts(flags: FlagValues): Artifact[] {
  const paths = readProfilePaths(flags);
  const bundle = flags.text('bundle');
  return [
    ...(paths
      ? [
          { what: POLICY, path: paths.policy },
          { what: EVIDENCE, path: paths.evidence },
          { what: REPORT, path: paths.report },
        ]
      : []),
    ...(bundle === undefined ? [] : [{ what: 'the evidence bundle', path: bundle }]),
  ];
}

/** Without links on the way; undefined for what is no place at all, which is told when it is opened. */
function findPlace({ path }: Artifact): string | undefined {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return undefined;
  }
}

/** Where the artifacts will be. */
export function listArtifactPlaces(flags: FlagValues): string[] {
  return listArtifacts(flags).flatMap((artifact) => findPlace(artifact) ?? []);
}

/** Before any of them is opened: one that has the name of another would be the end of it. */
export function checkArtifacts(flags: FlagValues): void {
  const stray = ['profile-report', 'profile-format'].find((name) => flags.has(name));
  if (stray !== undefined && !flags.has('profile'))
    throw new AssayError('E_USAGE', `Cannot use --${stray} without --profile`, {
      hint: 'Add --profile FILE, the file of the suggested policy',
    });
  const stream = flags.text('json');
  const isFile = stream !== undefined && stream !== '-' && !stream.startsWith('fd:');
  const taken = new Set<string>();
  const all = [...listArtifacts(flags), ...(isFile ? [{ what: '--json', path: stream }] : [])];
  for (const { what, path } of all) {
    const place = findPlace({ what, path });
    if (place === undefined) continue;
    if (taken.has(place))
      throw new AssayError(
        'E_USAGE',
        `Cannot write ${what} to "${path}": another artifact of this run has that name`,
        { hint: 'Name a file of its own for each' },
      );
    taken.add(place);
  }
}

/** Undefined when no profile was asked for. Every place is tried before the run. */
export function openProfileFiles(flags: FlagValues): ProfileFiles | undefined {
  const paths = readProfilePaths(flags);
  if (paths === undefined) return undefined;
  const { name, format } = paths;
  return {
    name,
    format,
    policy: new AtomicFile(paths.policy, POLICY),
    evidence: new AtomicFile(paths.evidence, EVIDENCE),
    report: new AtomicFile(paths.report, REPORT),
  };
}
