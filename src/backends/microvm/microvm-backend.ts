import type { SandboxBackend } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';

export function createMicrovmBackend(): SandboxBackend {
  throw new SandboxError('backend_unavailable', 'The backend microvm is not part of this build');
}
