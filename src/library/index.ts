export { createSandbox, probeBackend, sweepBackend } from './create-sandbox.ts';
export type { CreateSandboxOptions } from './create-sandbox.ts';
export { BACKEND_IDS, LANGUAGES } from '../backends/backend.ts';
export type {
  BackendId,
  BackendReport,
  Coverage,
  Guarantees,
  Language,
  LimitName,
  LimitStrength,
  Runtime,
  Surface,
} from '../backends/backend.ts';
export { SandboxError } from '../backends/sandbox-error.ts';
export type { SandboxErrorCode, Unmet } from '../backends/sandbox-error.ts';
export type {
  Denial,
  ExecEvent,
  ExecEvidence,
  ExecOptions,
  ExecResult,
  FileChange,
  Outcome,
  Sandbox,
  SandboxFs,
  SandboxProcess,
  SandboxStat,
  Usage,
} from '../backends/sandbox.ts';
export { DEFAULT_LIMITS } from '../backends/spec.ts';
export type {
  NetworkSpec,
  Requirements,
  SandboxLimits,
  SandboxSpec,
  WorkspaceSpec,
} from '../backends/spec.ts';
export { createCodeTool } from '../tool/code-tool.ts';
export type { CodeTool, CodeToolContext, CodeToolOptions } from '../tool/code-tool.ts';
export type { CodeInput, InputFile } from '../tool/code-input.ts';
export type { CodeOutput } from '../tool/code-output.ts';
export { renderForModel } from '../tool/model-text.ts';
