import type { Sandbox } from '../backends/sandbox.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { WORKSPACE } from '../backends/spec.ts';
import type { PreparedCode } from './prepare-code.ts';

/** Of code that has to lie in the workspace. Never a change of the program's. */
const OWN_DIRECTORY = '.assay-code';
const OWN_FILE = '.assay-';

export interface PlacedCode {
  /** Inside. */
  readonly path: string;
  /** Takes it away again, where it lies among the files of others. */
  remove(): Promise<void>;
}

/** Puts code into the sandbox as a file: an argument has a limit to its length, and everyone can read it. */
export async function placeCode(sandbox: Sandbox, code: PreparedCode): Promise<PlacedCode> {
  const { fileName, bytes, belongsIntoWorkspace } = code;
  if (sandbox.putCode && !belongsIntoWorkspace)
    return { path: await sandbox.putCode(fileName, bytes), remove: () => Promise.resolve() };
  const path = belongsIntoWorkspace ? `${OWN_FILE}${fileName}` : `${OWN_DIRECTORY}/${fileName}`;
  const top = path.split('/', 1).join();
  try {
    await requireFree(sandbox, top);
    if (top !== path) await sandbox.fs.mkdir(top);
    await sandbox.fs.writeFile(path, bytes);
  } catch (error) {
    // Of a workspace that is read-only: then it at least runs, and finds no modules beside it.
    if (sandbox.putCode && SandboxError.is(error) && error.code === 'path_denied')
      return { path: await sandbox.putCode(fileName, bytes), remove: () => Promise.resolve() };
    throw error;
  }
  return { path: `${WORKSPACE}/${path}`, remove: () => removeQuietly(sandbox, top) };
}

/** What the tool itself has put there. */
export function isOwnPath(path: string): boolean {
  return path.startsWith(OWN_FILE);
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

/** The program may have removed it itself, or the sandbox may be gone and its files with it. */
async function removeQuietly(sandbox: Sandbox, path: string): Promise<void> {
  try {
    await sandbox.fs.rm(path);
  } catch (error) {
    const code = SandboxError.is(error) ? error.code : undefined;
    if (code !== 'not_found' && code !== 'gone') throw error;
  }
}
