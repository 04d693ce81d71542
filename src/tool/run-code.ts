import type { ExecEvent, ExecResult, FileChange, Sandbox } from '../backends/sandbox.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { sha256Hex } from '../core/digest.ts';
import { decodeUtf8 } from '../core/utf8.ts';
import { type CodeInput, decodeFile, toWorkspacePath } from './code-input.ts';
import type { OutputFile } from './code-output.ts';
import type { FileState } from './file-state.ts';
import { placeCode } from './place-code.ts';
import type { PreparedCode } from './prepare-code.ts';
import { WorkspaceCode } from './workspace-code.ts';

/** Of each file that comes back with a result. */
const MAX_OUTPUT_FILE_BYTES = 4 * 1024 * 1024;

export interface FoundChanges {
  readonly changes: readonly FileChange[];
  /** Why it is not known what has changed. */
  readonly filesError?: string | undefined;
}

export interface CodeRun extends FoundChanges {
  readonly result: ExecResult;
  readonly outputs: readonly OutputFile[] | undefined;
  readonly codeSha256: string;
}

export interface RunCodeOptions {
  readonly sandbox: Sandbox;
  readonly state: FileState;
  readonly input: CodeInput;
  readonly code: PreparedCode;
  /** Bytes, instead of what the input says. */
  readonly stdin?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ExecEvent) => void) | undefined;
  readonly bundle?: string | undefined;
  /** Shared by all calls whose sandboxes have the same directory of the host as their workspace. */
  readonly workspaceCode?: WorkspaceCode | undefined;
}

/** Runs code in a sandbox that is there already. */
export async function runCode(options: RunCodeOptions): Promise<CodeRun> {
  const { sandbox, state, input, code, signal, onEvent, bundle } = options;
  const { workspaceCode = new WorkspaceCode() } = options;
  const codeSha256 = sha256Hex(input.code);
  for (const file of input.files ?? []) await writeInput(sandbox, state, file);
  const placed = await placeCode(sandbox, code, workspaceCode);
  let result: ExecResult;
  try {
    result = await sandbox.exec([...code.argv, placed.path], {
      env: code.env,
      stdin: options.stdin ?? input.stdin ?? '',
      limits: input.timeout_ms === undefined ? undefined : { wallMs: input.timeout_ms },
      signal,
      onEvent,
      bundle,
      codeSha256,
    });
  } finally {
    await placed.remove();
  }
  requireBundle(result, bundle, sandbox);
  const found = await findChanges(sandbox, state, workspaceCode);
  return { result, codeSha256, ...found, outputs: await readOutputs(sandbox, input.outputs) };
}

/** The run is over, and its result must not be lost where its files are: they may be gone with the sandbox. */
export async function findChanges(
  sandbox: Sandbox,
  state: FileState,
  workspaceCode?: WorkspaceCode,
): Promise<FoundChanges> {
  try {
    return { changes: await state.collect(sandbox, workspaceCode) };
  } catch (error) {
    if (!SandboxError.is(error)) throw error;
    return { changes: [], filesError: error.message };
  }
}

/** Evidence that was asked for and is not there would be taken for a run of which there is nothing to say. */
export function requireBundle(
  { evidence }: ExecResult,
  asked: string | undefined,
  { backend }: Sandbox,
): void {
  if (asked === undefined || evidence.bundle) return;
  throw new SandboxError(
    'evidence_write_failed',
    `The program ran, and the backend ${backend} has written no evidence to ${JSON.stringify(asked)}`,
    { hint: 'assay backends shows what each backend records' },
  );
}

/** Writes a file for the program, with the directories above it. */
export async function writeInput(
  sandbox: Sandbox,
  state: FileState,
  file: NonNullable<CodeInput['files']>[number],
): Promise<string> {
  const path = toWorkspacePath(file.path);
  const data = decodeFile(file);
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  if (parent !== '') await sandbox.fs.mkdir(parent);
  await sandbox.fs.writeFile(path, data);
  state.noteWritten(path, sha256Hex(data));
  return path;
}

async function readOutputs(
  sandbox: Sandbox,
  names: readonly string[] | undefined,
): Promise<OutputFile[] | undefined> {
  return names && (await Promise.all(names.map((name) => readOutput(sandbox, name))));
}

async function readOutput(sandbox: Sandbox, name: string): Promise<OutputFile> {
  try {
    const path = toWorkspacePath(name);
    const { kind, sizeBytes } = await sandbox.fs.stat(path);
    if (kind !== 'file') return { path: name, error: 'it is not a regular file' };
    if (sizeBytes > MAX_OUTPUT_FILE_BYTES)
      return {
        path: name,
        error: `it has ${sizeBytes} bytes, and at most ${MAX_OUTPUT_FILE_BYTES} come back`,
      };
    const bytes = await sandbox.fs.readFile(path, { maxBytes: MAX_OUTPUT_FILE_BYTES });
    return { path: name, ...encodeFile(bytes) };
  } catch (error) {
    if (SandboxError.is(error)) return { path: name, error: error.message };
    throw error;
  }
}

export function encodeFile(bytes: Uint8Array): { content: string; encoding: 'utf8' | 'base64' } {
  const text = decodeUtf8(bytes);
  return text === undefined
    ? { content: Buffer.from(bytes).toString('base64'), encoding: 'base64' }
    : { content: text, encoding: 'utf8' };
}
