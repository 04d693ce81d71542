import type { SandboxBackend } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';

export function createGvisorBackend(): SandboxBackend {
  throw new SandboxError('backend_unavailable', 'The backend gvisor is not part of this build');
}
