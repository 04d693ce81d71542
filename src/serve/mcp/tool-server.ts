import {
  type CallToolResult,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { SandboxError } from '../../backends/sandbox-error.ts';
import { describeRefusal, type SandboxTool, type Toolset } from '../../tool/toolset.ts';
import { ProgressNotes } from './progress-notes.ts';

const INSTRUCTIONS =
  'Runs code and programs in isolated sandboxes. A sandbox has no network and no files of the host unless it was ' +
  'started with them; what is refused is in the result, with what would allow it. Every call starts clean: to keep ' +
  'files between calls, say keep_session and pass the session of the result on.';

/** One MCP server over the tools of one client. */
export function makeToolServer(
  toolset: Toolset,
  { version }: { readonly version: string },
): Server {
  const server = new Server(
    { name: 'assay', title: 'assay sandbox', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const tools = toolset.tools.map(toTool);
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(toolset, { name: params.name, input: params.arguments ?? {} }, context),
  );
  return server;
}

async function callTool(
  toolset: Toolset,
  { name, input }: { readonly name: string; readonly input: unknown },
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  const notes = new ProgressNotes(mcpReq);
  try {
    const { text, structured } = await toolset.call(name, input, {
      signal: mcpReq.signal,
      onEvent: (event) => notes.heed(event),
    });
    return { content: [{ type: 'text', text }], structuredContent: structured };
  } catch (error) {
    // A refusal is for the model, which can do something about it. Anything else is for the operator.
    if (!SandboxError.is(error)) throw error;
    return { content: [{ type: 'text', text: describeRefusal(error) }], isError: true };
  } finally {
    notes.close();
  }
}

function toTool({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  isReadOnly,
}: SandboxTool): Tool {
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as unknown as Tool['inputSchema'],
    outputSchema: outputSchema as unknown as NonNullable<Tool['outputSchema']>,
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: !isReadOnly,
      idempotentHint: isReadOnly,
      openWorldHint: false,
    },
  };
}
