import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { AssayError } from '../core/errors.ts';
import { scopedTmpPath } from '../launch/scoped-tmp.ts';
import type { FileTree } from '../plan/file-tree.ts';
import { type QuickRules, resolvePolicy } from '../policy/combine.ts';
import type { PolicyFiles } from '../policy/extend.ts';
import { choosePolicyParser } from '../policy/parser.ts';
import type { Policy, Variables } from '../policy/policy.ts';

export interface PolicyFlags {
  readonly policy?: string | undefined;
  readonly preset?: string | undefined;
  readonly workdir?: string | undefined;
  readonly quick?: QuickRules | undefined;
}

/** `${CWD}` and the rest for one run. The working directory is resolved, since the boundary is about real places. */
export function readVariables(flags: Pick<PolicyFlags, 'workdir'>, tree: FileTree): Variables {
  const asked = resolve(flags.workdir ?? '.');
  if (tree.kind(asked) !== 'directory')
    throw new AssayError(
      'E_WORKDIR',
      `Cannot work in "${flags.workdir ?? asked}": it is not a directory`,
      {
        hint: 'Name an existing directory with --workdir',
      },
    );
  const { uid, username } = readUser();
  return {
    cwd: tree.realpath(asked) ?? asked,
    home: process.env['HOME']?.startsWith('/') ? process.env['HOME'] : homedir(),
    tmpdir: scopedTmpPath(uid, process.pid),
    user: process.env['USER'] ?? username,
  };
}

function readUser(): { uid: number; username: string } {
  const uid = process.getuid?.() ?? 0;
  if (process.env['USER'] !== undefined) return { uid, username: process.env['USER'] };
  try {
    return { uid, username: userInfo().username };
  } catch {
    return { uid, username: String(uid) }; // an id without an entry in the user database is no error
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

export async function loadRunPolicy(flags: PolicyFlags, variables: Variables): Promise<Policy> {
  const { policy: file, preset, quick } = flags;
  return resolvePolicy({ file, preset, quick, variables, files: await openFiles(file) });
}
