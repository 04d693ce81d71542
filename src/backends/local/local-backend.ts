import type { SandboxBackend } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';

export function createLocalBackend(): SandboxBackend {
  throw new SandboxError('backend_unavailable', 'The backend local is not part of this build');
}
