import { realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { AtomicFile } from '../../artifacts/atomic-file.ts';
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

/** Where the artifacts will be, without links on the way; what is no place at all is told when it is opened. */
export function listArtifactPlaces(flags: FlagValues): string[] {
  const bundle = flags.text('bundle');
  return [...listProfilePaths(flags), ...(bundle === undefined ? [] : [bundle])].flatMap((path) => {
    try {
      return [join(realpathSync(dirname(path)), basename(path))];
    } catch {
      return [];
    }
  });
}

export function listProfilePaths(flags: FlagValues): string[] {
  const paths = readProfilePaths(flags);
  return paths ? [paths.policy, paths.evidence, paths.report] : [];
}

/** Undefined when no profile was asked for. Every place is tried before the run. */
export function openProfileFiles(flags: FlagValues): ProfileFiles | undefined {
  const paths = readProfilePaths(flags);
  if (paths === undefined) return undefined;
  const { name, format } = paths;
  return {
    name,
    format,
    policy: new AtomicFile(paths.policy, 'the suggested policy'),
    evidence: new AtomicFile(paths.evidence, 'the evidence'),
    report: new AtomicFile(paths.report, 'the report'),
  };
}
