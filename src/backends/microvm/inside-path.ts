import { posix } from 'node:path';
import { SandboxError } from '../sandbox-error.ts';
import { WORKSPACE } from '../spec.ts';

const MAX_PATH_BYTES = 4095;

/** A path below `/workspace`, without it; empty for the workspace itself. */
export function toInside(path: string): string {
  if (path.includes('\0') || Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new SandboxError(
      'path_invalid',
      `Cannot use ${JSON.stringify(path.slice(0, 100))} as a path`,
    );
  const normal = posix.normalize(posix.join(WORKSPACE, path.startsWith('/') ? '' : path));
  const absolute = path.startsWith('/') ? posix.normalize(path) : normal;
  const trimmed = absolute.length > 1 ? absolute.replace(/\/$/, '') : absolute;
  if (trimmed === WORKSPACE) return '';
  if (!trimmed.startsWith(`${WORKSPACE}/`))
    throw new SandboxError(
      'path_denied',
      `Cannot use ${JSON.stringify(path)}: it leads out of ${WORKSPACE}`,
    );
  return trimmed.slice(WORKSPACE.length + 1);
}
