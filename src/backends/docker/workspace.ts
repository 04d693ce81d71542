import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxSpec, WorkspaceSpec } from '../spec.ts';
import { SANDBOX_UID } from './container-options.ts';

export interface WorkspacePlan {
  readonly mode: WorkspaceSpec['mode'] | 'empty';
  /** A directory of the host that is bound into the container. */
  readonly bound?: { readonly host: string; readonly isReadOnly: boolean } | undefined;
  /** Of that directory, by which it is known inside. */
  readonly inode?: number | undefined;
  readonly copied?: string | undefined;
  readonly user: User;
  /** Who owns the directory, where that is somebody else than programs are: it has to be mapped. */
  readonly mapped?: User | undefined;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

const SANDBOX_USER = { uid: SANDBOX_UID, gid: SANDBOX_UID };

/**
 * Decides who programs are: whoever owns the directory that they work in. On the kernel of the host they are never root,
 * and a directory of root's is mapped instead.
 */
export function planWorkspace(
  { workspace }: SandboxSpec,
  { isKernelShared }: { readonly isKernelShared: boolean },
): WorkspacePlan {
  if (!workspace) return { mode: 'empty', user: SANDBOX_USER };
  const host = resolve(workspace.host);
  const found = statSync(host, { throwIfNoEntry: false });
  if (!found?.isDirectory())
    throw new SandboxError('path_invalid', `There is no directory ${host} for the workspace`);
  const { mode } = workspace;
  if (mode === 'copy') return { mode, copied: host, user: SANDBOX_USER };
  const owner = { uid: found.uid, gid: found.gid };
  const bound = { host, isReadOnly: mode === 'ro' };
  return isKernelShared && owner.uid === 0
    ? { mode, bound, inode: found.ino, user: SANDBOX_USER, mapped: owner }
    : { mode, bound, inode: found.ino, user: owner };
}

/** The size of a directory of the host is looked at from time to time, which is not a hard limit. */
export function requireBoundLimits({ workspace, limits, require }: SandboxSpec): void {
  if (workspace?.mode !== 'rw' || !require?.hardLimits) return;
  const soft = (['diskBytes', 'inodes'] as const).filter((name) => limits?.[name] !== undefined);
  if (soft.length === 0) return;
  throw new SandboxError(
    'policy_unenforceable',
    `Cannot keep a hard limit in a directory of the host: ${soft.join(', ')}`,
    {
      unmet: soft.map((name) => ({
        item: `limits.${name}`,
        reason: 'only soft in a workspace that is rw, and hard limits are required',
      })),
      hint: 'Use a workspace that is a copy',
    },
  );
}
