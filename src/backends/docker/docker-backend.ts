import type { SandboxBackend } from '../backend.ts';
import { SandboxError } from '../sandbox-error.ts';

export function createDockerBackend(): SandboxBackend {
  throw new SandboxError('backend_unavailable', 'The backend docker is not part of this build');
}
