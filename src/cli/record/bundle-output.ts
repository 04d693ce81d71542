import { resolve } from 'node:path';
import { BundleFile, refuseBundle } from '../../artifacts/bundle-file.ts';
import type { Policy, Variables } from '../../policy/policy.ts';
import type { FlagValues } from '../flag-values.ts';
import { listProfilePaths } from './profile-files.ts';

export interface BundleOutputInput {
  readonly flags: FlagValues;
  readonly policy: Policy;
  readonly variables: Variables;
  /** The file of --json, if it is one. */
  readonly jsonPath?: string | undefined;
}

/** The bundle that the command line asks for, in a file that is no other artifact's. */
export function openBundleOutput(input: BundleOutputInput): BundleFile {
  const { flags, policy, variables, jsonPath } = input;
  const path = flags.text('bundle') ?? '';
  const others = [...listProfilePaths(flags), ...(jsonPath === undefined ? [] : [jsonPath])];
  if (others.some((other) => resolve(other) === resolve(path)))
    throw refuseBundle(path, 'another artifact of this run has that name');
  return new BundleFile({ path, policy, variables });
}
