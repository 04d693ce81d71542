import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AssayError } from '../core/errors.ts';
import { scopedTmpPath } from '../launch/scoped-tmp.ts';
import type { FileTree } from '../plan/file-tree.ts';
import type { PolicyFiles } from '../policy/extend.ts';
import { choosePolicyParser } from '../policy/parser.ts';
import { isPlainNet } from '../policy/plain-net.ts';
import type { Policy, Variables } from '../policy/policy.ts';
import { type PolicyChecks, type QuickRules, resolveRunPolicy } from '../policy/resolve.ts';

/** Where Debian puts the home of accounts that have none. */
const NO_HOME = '/nonexistent';

export interface PolicyFlags {
  readonly policy?: string | undefined;
  readonly preset?: string | undefined;
  readonly workdir?: string | undefined;
  readonly quick?: QuickRules | undefined;
}

/** `${CWD}` and the rest for one run. The working directory is resolved, since the boundary is about real places. */
export function readVariables(flags: Pick<PolicyFlags, 'workdir'>, tree: FileTree): Variables {
  const asked = resolve(flags.workdir ?? '.');
  if (!tree.isDirectory(asked))
    throw new AssayError(
      'E_WORKDIR',
      `Cannot work in "${flags.workdir ?? asked}": it is not a directory`,
      {
        hint: 'Name an existing directory with --workdir',
      },
    );
  const { HOME, USER } = process.env;
  const uid = process.getuid?.() ?? 0;
  return {
    cwd: tree.realpath(asked) ?? asked,
    home: HOME?.startsWith('/') ? HOME : readUser(uid).homedir,
    tmpdir: scopedTmpPath(uid, process.pid),
    // Few policies name the user, and the user database may be a long way off.
    get user() {
      return USER ?? readUser(uid).username;
    },
  };
}

/** Asked for only when the environment does not say; an id without an entry in the user database is no error. */
function readUser(uid: number): { username: string; homedir: string } {
  try {
    const { username, homedir } = process.getBuiltinModule('node:os').userInfo();
    return { username, homedir: homedir.startsWith('/') ? homedir : NO_HOME };
  } catch {
    return { username: String(uid), homedir: NO_HOME };
  }
}

function readPolicyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AssayError(
      'E_POLICY_LOAD_FAILED_UNENFORCEABLE',
      `Cannot read the policy "${file}": ${(cause as Error).message}`,
      {
        hint: 'The named policy did not load and no substitute was applied; nothing was executed',
        cause,
      },
    );
  }
}

export async function openFiles(file: string | undefined): Promise<PolicyFiles | undefined> {
  if (file === undefined) return undefined;
  const parse = await choosePolicyParser(readPolicyFile(file), file);
  return { read: readPolicyFile, parse, locate: (path) => resolve(path) };
}

async function openChecks({ policy, quick }: PolicyFlags): Promise<PolicyChecks | undefined> {
  if (policy === undefined && !quick?.allowNet?.length) return undefined;
  const { POLICY_CHECKS } = await import('../policy/combine.ts');
  return POLICY_CHECKS;
}

export async function loadRunPolicy(flags: PolicyFlags, variables: Variables): Promise<Policy> {
  const { policy: file, preset, quick } = flags;
  const files = await openFiles(file);
  const checks = await openChecks(flags);
  const policy = resolveRunPolicy({ file, preset, quick, variables, files, checks });
  if (isPlainNet(policy.net)) return policy;
  const { findHostSet } = await import('../policy/net-target.ts');
  if (!policy.net.some(({ text }) => findHostSet(text))) return policy;
  const { fillHostSets } = await import('./host-sets.ts');
  return { ...policy, net: fillHostSets(policy.net) };
}
