import { posix } from 'node:path';
import { SandboxError } from './sandbox-error.ts';
import { WORKSPACE } from './spec.ts';

/**
 * A path as somebody outside gives it, relative to `/workspace`; the workspace itself is the empty string. Throws
 * `path_invalid` for what is no path, and `path_denied` for one that leads out.
 */
export function toWorkspacePath(path: string): string {
  if (typeof path !== 'string' || path.includes('\0'))
    throw new SandboxError('path_invalid', `Cannot use ${JSON.stringify(path)} as a path`);
  const whole = posix.resolve(WORKSPACE, path);
  if (whole !== WORKSPACE && !whole.startsWith(`${WORKSPACE}/`))
    throw new SandboxError('path_denied', `Cannot use "${path}": it is outside of ${WORKSPACE}`);
  return whole.slice(WORKSPACE.length + 1);
}

/** The same for a file or directory in the workspace, which the workspace itself is not. */
export function toEntryPath(path: string): string {
  const entry = toWorkspacePath(path);
  if (entry === '')
    throw new SandboxError('path_invalid', `Cannot use "${path}": it is the workspace itself`);
  return entry;
}
