import type { ExecResult, Sandbox } from '../backends/sandbox.ts';
import { KEEP_SESSION_SCHEMA, SESSION_SCHEMA, TIMEOUT_SCHEMA } from './code-input.ts';
import { makeOutput } from './code-output.ts';
import { DEFAULT_OUTPUT_CHARS } from './code-tool.ts';
import { FileState } from './file-state.ts';
import { renderForModel } from './model-text.ts';
import { OUTPUT_SCHEMA } from './output-schema.ts';
import { findChanges, requireBundle } from './run-code.ts';
import type { ObjectSchema } from './schema.ts';
import type { Session } from './sessions.ts';
import type { SandboxTool, ToolAnswer, ToolCall, ToolsetOptions } from './toolset.ts';

interface ExecInput {
  readonly argv: readonly string[];
  readonly cwd?: string;
  readonly stdin?: string;
  readonly timeout_ms?: number;
  readonly keep_session?: boolean;
  readonly session?: string;
}

const INPUT_SCHEMA: ObjectSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['argv'],
  properties: {
    argv: {
      type: 'array',
      maxItems: 1000,
      items: { type: 'string', maxLength: 100_000 },
      description: 'The program and its arguments; for a shell: ["bash", "-c", "…"]',
    },
    cwd: { type: 'string', minLength: 1, maxLength: 4096, description: '/workspace if not given' },
    stdin: { type: 'string', maxLength: 8 * 1024 * 1024 },
    timeout_ms: TIMEOUT_SCHEMA,
    keep_session: KEEP_SESSION_SCHEMA,
    session: SESSION_SCHEMA,
  },
};

/** `sandbox_exec`: a program instead of code. */
export function makeExecTool(options: ToolsetOptions): SandboxTool {
  const { sessions, maxOutputChars = DEFAULT_OUTPUT_CHARS } = options;
  const runIn = async (
    { sandbox, state }: Pick<Session, 'sandbox' | 'state'>,
    { input, call, session }: { input: ExecInput; call: ToolCall; session?: string },
  ): Promise<ToolAnswer> => {
    const bundle = options.bundle?.();
    const result: ExecResult = await sandbox.exec(input.argv, {
      cwd: input.cwd,
      stdin: input.stdin ?? '',
      limits: input.timeout_ms === undefined ? undefined : { wallMs: input.timeout_ms },
      signal: call.signal,
      onEvent: call.onEvent,
      bundle,
    });
    requireBundle(result, bundle, sandbox);
    const found = await findChanges(sandbox, state, options.workspaceCode);
    const output = makeOutput({ result, ...found, session }, maxOutputChars);
    return { text: renderForModel(output), structured: { ...output } };
  };
  return {
    name: 'sandbox_exec',
    title: 'Run a program in a sandbox',
    description:
      'Run a program that is installed in the sandbox, such as ["ls", "-l"]. Starts clean unless session names a ' +
      'sandbox that was kept.',
    inputSchema: INPUT_SCHEMA,
    outputSchema: OUTPUT_SCHEMA,
    isReadOnly: false,
    run: async (value, call) => {
      const input = value as ExecInput;
      if (input.session !== undefined)
        return await sessions.use(input.session, (own) =>
          runIn(own, { input, call, session: own.id }),
        );
      if (input.keep_session) {
        const { id } = await openSession(options, call);
        return await sessions.use(id, (own) => runIn(own, { input, call, session: id }));
      }
      const sandbox = await takeSandbox(options, call);
      try {
        return await runIn({ sandbox, state: new FileState() }, { input, call });
      } finally {
        await sandbox[Symbol.asyncDispose]();
      }
    },
  };
}

export function openSession(options: ToolsetOptions, call: ToolCall): Promise<Session> {
  return options.sessions.open(() => takeSandbox(options, call));
}

function takeSandbox(
  { pool, backend, spec }: ToolsetOptions,
  { signal }: ToolCall,
): Promise<Sandbox> {
  return pool ? pool.take(signal) : backend.create(spec, { signal });
}
