import { arch, release } from 'node:os';
import type { AtomicFile } from '../../artifacts/atomic-file.ts';
import { makeReport } from '../../artifacts/report-markdown.ts';
import { serialiseEvidence } from '../../artifacts/serialise.ts';
import { suggestPolicy } from '../../artifacts/suggest-policy.ts';
import { makeEvidence } from '../../evidence/profile.ts';
import type { GeneralRun } from '../../evidence/general-run.ts';
import type { Policy } from '../../policy/policy.ts';
import { VERSION } from '../version.ts';
import type { ProfileFiles } from './profile-files.ts';

export interface WriteProfileInput {
  readonly run: GeneralRun;
  readonly files: ProfileFiles;
  readonly policy: Policy;
}

export interface WrittenProfile {
  readonly paths: readonly string[];
  readonly problems: string[];
}

/** Writes what it can: an artifact that fails costs no other. */
export function writeProfile({ run, files, policy }: WriteProfileInput): WrittenProfile {
  const { name, format } = files;
  const host = { kernel: release(), architecture: arch() };
  const evidence = makeEvidence(run.record, { name, assayVersion: VERSION, host, policy }, run);
  const paths: string[] = [];
  const problems: string[] = [];
  const write = (file: AtomicFile, what: string, make: () => Iterable<string>): void => {
    try {
      file.write(make());
      paths.push(file.path);
    } catch (error) {
      problems.push(`Cannot write ${what} to "${file.path}": ${(error as Error).message}`);
    } finally {
      file.close();
    }
  };
  // The evidence first: the others can be made from it again.
  write(files.evidence, 'the evidence', () => serialiseEvidence(evidence, format));
  write(files.policy, 'the suggested policy', () => [suggestPolicy([evidence], format).text]);
  write(files.report, 'the report', () => [makeReport(evidence)]);
  return { paths, problems };
}
