import type { BackendId, SandboxBackend } from './backend.ts';

/**
 * One of each for the whole process, as its modules are: some keep a helper that all their sandboxes come from. What is
 * kept here is no state of any sandbox.
 */
const loaded = new Map<BackendId, Promise<SandboxBackend>>();

/** Each backend is loaded when it is first asked for, with what it needs and no other does. */
export async function loadBackend(id: BackendId): Promise<SandboxBackend> {
  const found = loaded.get(id) ?? importBackend(id);
  loaded.set(id, found);
  // What could not be loaded is tried again when it is asked for again.
  found.catch(() => loaded.delete(id));
  return await found;
}

async function importBackend(id: BackendId): Promise<SandboxBackend> {
  switch (id) {
    case 'local':
      return (await import('./local/local-backend.ts')).createLocalBackend();
    case 'docker':
      return (await import('./docker/docker-backend.ts')).createDockerBackend();
    case 'gvisor':
      return (await import('./gvisor/gvisor-backend.ts')).createGvisorBackend();
    case 'microvm':
      return (await import('./microvm/microvm-backend.ts')).createMicrovmBackend();
    case 'wasm':
      return (await import('./wasm/wasm-backend.ts')).createWasmBackend();
  }
}
