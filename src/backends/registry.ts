import type { BackendId, SandboxBackend } from './backend.ts';

/** Each backend is loaded when it is asked for, with what it needs and no other does. */
export async function loadBackend(id: BackendId): Promise<SandboxBackend> {
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
