import { sha256Hex } from '../core/digest.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { type InputFile, PATH_SCHEMA, SESSION_SCHEMA, toWorkspacePath } from './code-input.ts';
import { openSession } from './exec-tool.ts';
import { encodeFile, writeInput } from './run-code.ts';
import type { ObjectSchema, Schema } from './schema.ts';
import type { SandboxTool, ToolsetOptions } from './toolset.ts';

const MAX_READ_BYTES = 1024 * 1024;
const MAX_ENTRIES = 1000;
const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };

function object(properties: ObjectSchema['properties'], required: readonly string[]): ObjectSchema {
  return { type: 'object', additionalProperties: false, required, properties };
}

/** The files of sandboxes that were kept. */
export function makeFileTools(options: ToolsetOptions): SandboxTool[] {
  return [
    makeReadTool(options),
    makeWriteTool(options),
    makeListTool(options),
    makeDestroyTool(options),
  ];
}

function makeReadTool({ sessions }: ToolsetOptions): SandboxTool {
  return {
    name: 'sandbox_read_file',
    title: 'Read a file of a sandbox',
    description: 'Read a file below /workspace of a sandbox that was kept.',
    isReadOnly: true,
    inputSchema: object(
      {
        session: SESSION_SCHEMA,
        path: PATH_SCHEMA,
        max_bytes: { type: 'integer', minimum: 1, maximum: MAX_READ_BYTES },
      },
      ['session', 'path'],
    ),
    outputSchema: object(
      {
        path: TEXT,
        content: TEXT,
        encoding: { type: 'string', enum: ['utf8', 'base64'] },
        size_bytes: COUNT,
        truncated_bytes: COUNT,
      },
      ['path', 'content', 'encoding', 'size_bytes', 'truncated_bytes'],
    ),
    run: async (value) => {
      const { session, path: name, max_bytes: maxBytes = MAX_READ_BYTES } = value as ReadInput;
      const path = toWorkspacePath(name);
      return await sessions.use(session, async ({ sandbox }) => {
        const { kind, sizeBytes } = await sandbox.fs.stat(path);
        if (kind !== 'file')
          throw new SandboxError('path_invalid', `${path} is not a regular file`, {
            hint: kind === 'directory' ? 'sandbox_list_files lists a directory' : undefined,
          });
        const all = await sandbox.fs.readFile(path, { maxBytes: maxBytes + 4 });
        const shown = cutText(all, maxBytes);
        const file = encodeFile(shown);
        const dropped = Math.max(0, sizeBytes - shown.length);
        const note = dropped > 0 ? `\n[${dropped} bytes left out]` : '';
        return {
          text: `${file.content}${note}`,
          structured: { path, ...file, size_bytes: sizeBytes, truncated_bytes: dropped },
        };
      });
    },
  };
}

interface ReadInput {
  readonly session: string;
  readonly path: string;
  readonly max_bytes?: number;
}

/** Not inside a character, or text would come back as base64. */
function cutText(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (bytes.length <= maxBytes) return bytes;
  let end = maxBytes;
  while (end > maxBytes - 4 && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

function makeWriteTool(options: ToolsetOptions): SandboxTool {
  return {
    name: 'sandbox_write_file',
    title: 'Write a file into a sandbox',
    description:
      'Write a file below /workspace of a sandbox that was kept. Without session, a new one is made and kept; the ' +
      'result names it.',
    isReadOnly: false,
    inputSchema: object(
      {
        session: SESSION_SCHEMA,
        path: PATH_SCHEMA,
        content: { type: 'string', maxLength: 8 * 1024 * 1024 },
        encoding: { type: 'string', enum: ['utf8', 'base64'], description: 'Of the content' },
      },
      ['path', 'content'],
    ),
    outputSchema: object({ path: TEXT, session: TEXT, sha256: TEXT, size_bytes: COUNT }, [
      'path',
      'session',
      'sha256',
      'size_bytes',
    ]),
    run: async (value, call) => {
      const input = value as InputFile & { readonly session?: string };
      toWorkspacePath(input.path);
      const session = input.session ?? (await openSession(options, call)).id;
      return await options.sessions.use(session, async ({ sandbox, state }) => {
        const path = await writeInput(sandbox, state, input);
        const data = await sandbox.fs.readFile(path);
        return {
          text: `Wrote ${data.length} bytes to ${path}. [session: ${session}]`,
          structured: { path, session, sha256: sha256Hex(data), size_bytes: data.length },
        };
      });
    },
  };
}

function makeListTool({ sessions }: ToolsetOptions): SandboxTool {
  return {
    name: 'sandbox_list_files',
    title: 'List files of a sandbox',
    description: 'List a directory below /workspace of a sandbox that was kept.',
    isReadOnly: true,
    inputSchema: object(
      {
        session: SESSION_SCHEMA,
        path: { ...PATH_SCHEMA, description: 'A directory; /workspace itself if not given' },
        max_entries: { type: 'integer', minimum: 1, maximum: MAX_ENTRIES },
      },
      ['session'],
    ),
    outputSchema: object(
      {
        path: TEXT,
        entries: {
          type: 'array',
          items: object({ name: TEXT, kind: { type: 'string', enum: ['file', 'directory'] } }, [
            'name',
            'kind',
          ]),
        },
        truncated_entries: COUNT,
      },
      ['path', 'entries', 'truncated_entries'],
    ),
    run: async (value) => {
      const { session, path: name, max_entries: max = MAX_ENTRIES } = value as ListInput;
      const path = name === undefined || isRoot(name) ? '' : toWorkspacePath(name);
      return await sessions.use(session, async ({ sandbox }) => {
        const names = (await sandbox.fs.readdir(path)).toSorted();
        const shown = names.slice(0, max);
        const dropped = names.length - shown.length;
        const note = dropped > 0 ? [`[${dropped} more]`] : [];
        return {
          text: names.length === 0 ? '[empty]' : [...shown, ...note].join('\n'),
          structured: {
            path: path || '.',
            entries: shown.map(toEntry),
            truncated_entries: dropped,
          },
        };
      });
    },
  };
}

interface ListInput {
  readonly session: string;
  readonly path?: string;
  readonly max_entries?: number;
}

function isRoot(path: string): boolean {
  return ['.', './', '/workspace', '/workspace/'].includes(path);
}

function toEntry(name: string): { name: string; kind: 'file' | 'directory' } {
  return name.endsWith('/')
    ? { name: name.slice(0, -1), kind: 'directory' }
    : { name, kind: 'file' };
}

function makeDestroyTool({ sessions }: ToolsetOptions): SandboxTool {
  return {
    name: 'sandbox_destroy',
    title: 'End a sandbox',
    description: 'End a sandbox that was kept, with everything that runs in it and all its files.',
    isReadOnly: false,
    inputSchema: object({ session: SESSION_SCHEMA }, ['session']),
    outputSchema: object({ destroyed: { type: 'boolean' } }, ['destroyed']),
    run: async (value) => {
      const destroyed = await sessions.destroy((value as { readonly session: string }).session);
      return {
        text: destroyed ? 'The sandbox is gone.' : 'There is no such sandbox.',
        structured: { destroyed },
      };
    },
  };
}
