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

/** Undefined when no profile was asked for. Every place is tried before the run. */
export function openProfileFiles(flags: FlagValues): ProfileFiles | undefined {
  const path = flags.text('profile');
  if (path === undefined) return undefined;
  const format = (flags.text('profile-format') ?? 'yaml') as ProfileFormat;
  const name = basename(path, extname(path));
  const report = flags.text('profile-report') ?? `${path}.report.md`;
  return {
    name,
    format,
    policy: new AtomicFile(path, 'the suggested policy'),
    evidence: new AtomicFile(join(dirname(path), `${name}.evidence.${format}`), 'the evidence'),
    report: new AtomicFile(report, 'the report'),
  };
}
