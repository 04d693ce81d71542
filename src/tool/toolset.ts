import type { SandboxBackend } from '../backends/backend.ts';
import type { SandboxSpec } from '../backends/spec.ts';
import type { ExecEvent } from '../backends/sandbox.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { requireInput } from './code-input.ts';
import { type CodeToolOptions, createCodeTool } from './code-tool.ts';
import { makeFileTools } from './file-tools.ts';
import { makeExecTool } from './exec-tool.ts';
import { renderForModel } from './model-text.ts';
import type { SandboxPool } from './pool.ts';
import type { ObjectSchema } from './schema.ts';
import type { Sessions } from './sessions.ts';

export interface ToolCall {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ExecEvent) => void) | undefined;
}

export interface ToolAnswer {
  /** For the model. */
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}

export interface SandboxTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly isReadOnly: boolean;
  /** With input that is as the schema says. */
  run(input: unknown, call: ToolCall): Promise<ToolAnswer>;
}

export interface ToolsetOptions extends Pick<
  CodeToolOptions,
  'maxOutputChars' | 'bundle' | 'workspaceCode'
> {
  readonly backend: SandboxBackend;
  readonly spec: SandboxSpec;
  readonly sessions: Sessions;
  readonly pool?: SandboxPool | undefined;
}

/** The tools of one client: code, programs and files, in sandboxes that no other client reaches. */
export class Toolset {
  readonly tools: readonly SandboxTool[];
  readonly #close: () => Promise<void>;

  constructor(options: ToolsetOptions) {
    const { sessions } = options;
    const code = createCodeTool({ ...options, session: 'on-request' });
    const execute: SandboxTool = {
      name: code.name,
      title: 'Run code in a sandbox',
      description: code.description,
      inputSchema: code.inputSchema,
      outputSchema: code.outputSchema,
      isReadOnly: false,
      run: async (input, call) => {
        const output = await code.execute(input as Parameters<typeof code.execute>[0], call);
        return { text: renderForModel(output), structured: { ...output } };
      },
    };
    this.tools = [execute, makeExecTool(options), ...makeFileTools(options)];
    this.#close = async () => {
      await code.close();
      await sessions.close();
    };
  }

  async call(name: string, input: unknown, call: ToolCall = {}): Promise<ToolAnswer> {
    const tool = this.tools.find((one) => one.name === name);
    if (!tool) {
      const known = this.tools.map((one) => one.name).join(', ');
      throw new SandboxError('not_found', `There is no tool ${JSON.stringify(name)}`, {
        hint: `There are: ${known}`,
      });
    }
    requireInput(input, tool.inputSchema);
    return await tool.run(input, call);
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** What a model is told when a call was refused: why, and what would help. */
export function describeRefusal(error: SandboxError): string {
  const unmet = error.unmet.map(({ item, reason }) => `- ${item}: ${reason}`);
  const hint = error.hint === undefined ? [] : [`Hint: ${error.hint}`];
  return [`Refused (${error.code}): ${error.message}`, ...unmet, ...hint].join('\n');
}
