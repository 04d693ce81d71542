import type { Sandbox } from '../backends/sandbox.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { WORKSPACE } from '../backends/spec.ts';
import type { PreparedCode } from './prepare-code.ts';
import type { WorkspaceCode } from './workspace-code.ts';

/** Of a backend that has no place for code but the workspace. */
const OWN_DIRECTORY = '.assay-code';

export interface PlacedCode {
  /** Inside. */
  readonly path: string;
  /** Takes it away again, where it lies among the files of others. Never fails: the run is over, and has a result. */
  remove(): Promise<void>;
}

/** Puts code into the sandbox as a file: an argument has a limit to its length, and everyone can read it. */
export async function placeCode(
  sandbox: Sandbox,
  { fileName, bytes, belongsIntoWorkspace }: PreparedCode,
  workspaceCode: WorkspaceCode,
): Promise<PlacedCode> {
  // In a workspace that is read-only it at least runs, and finds no modules beside it.
  if (sandbox.putCode && (!belongsIntoWorkspace || workspaceCode.isReadOnly))
    return { path: await sandbox.putCode(fileName, bytes), remove: () => Promise.resolve() };
  const path = belongsIntoWorkspace
    ? workspaceCode.chooseName(fileName, bytes)
    : `${OWN_DIRECTORY}/${fileName}`;
  const top = path.split('/', 1).join();
  const release = await workspaceCode.hold(top);
  try {
    await requireFree(sandbox, top);
    if (top !== path) await sandbox.fs.mkdir(top);
    await sandbox.fs.writeFile(path, bytes);
  } catch (error) {
    release();
    throw error;
  }
  return {
    path: `${WORKSPACE}/${path}`,
    remove: () => sandbox.fs.rm(top).then(release, release),
  };
}

async function requireFree(sandbox: Sandbox, top: string): Promise<void> {
  try {
    await sandbox.fs.stat(top);
  } catch (error) {
    if (SandboxError.is(error) && error.code === 'not_found') return;
    throw error;
  }
  throw new SandboxError(
    'path_denied',
    `Cannot put the code at ${WORKSPACE}/${top}: it is there already`,
    { hint: 'Another run may be using this workspace. Remove it if none does' },
  );
}
