import { BACKEND_IDS, type BackendId, type BackendReport } from '../backends/backend.ts';
import { loadBackend } from '../backends/registry.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import type { Sandbox } from '../backends/sandbox.ts';
import type { SandboxSpec } from '../backends/spec.ts';

export interface CreateSandboxOptions extends SandboxSpec {
  /** `local` unless given. Another one is never taken in its place. */
  readonly backend?: BackendId | undefined;
  /** Gives up making it. */
  readonly signal?: AbortSignal | undefined;
}

function checkId(id: BackendId): void {
  if (!BACKEND_IDS.includes(id))
    throw new SandboxError('backend_unavailable', `There is no backend "${String(id)}"`, {
      hint: `There are: ${BACKEND_IDS.join(', ')}`,
    });
}

/** Makes a sandbox, or throws a `SandboxError` before anything has run. */
export async function createSandbox(options: CreateSandboxOptions = {}): Promise<Sandbox> {
  const { backend: id = 'local', signal, ...spec } = options;
  checkId(id);
  const backend = await loadBackend(id);
  return await backend.create(spec, { signal });
}

/** What a backend is and guarantees on this machine. */
export async function probeBackend(id: BackendId): Promise<BackendReport> {
  checkId(id);
  return await (await loadBackend(id)).probe();
}

/** Removes what programs that were killed have left of this backend's sandboxes. */
export async function sweepBackend(id: BackendId): Promise<{
  readonly removed: readonly string[];
  readonly problems: readonly string[];
}> {
  checkId(id);
  return await (await loadBackend(id)).sweep();
}
