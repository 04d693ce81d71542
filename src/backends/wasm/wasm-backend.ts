import type { SandboxBackend } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';

export function createWasmBackend(): SandboxBackend {
  throw new SandboxError('backend_unavailable', 'The backend wasm is not part of this build');
}
