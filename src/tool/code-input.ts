import { LANGUAGES, type Language } from '../backends/backend.ts';
import { SandboxError } from '../backends/sandbox-error.ts';
import { WORKSPACE } from '../backends/spec.ts';
import { findInputProblem, type ObjectSchema, type Schema } from './schema.ts';

export const MAX_CODE_CHARS = 1024 * 1024;
const MAX_FILES = 64;
const MAX_FILE_CHARS = 8 * 1024 * 1024;
const MAX_TIMEOUT_MS = 600_000;

/** A file that is there when the code starts, below `/workspace`. */
export interface InputFile {
  readonly path: string;
  readonly content: string;
  readonly encoding?: 'utf8' | 'base64' | undefined;
}

export interface CodeInput {
  readonly language: Language;
  readonly code: string;
  readonly stdin?: string | undefined;
  readonly files?: readonly InputFile[] | undefined;
  /** Files below `/workspace` whose content comes back with the result. */
  readonly outputs?: readonly string[] | undefined;
  readonly timeout_ms?: number | undefined;
  /** Keep the sandbox, and say under which name it can be used again. */
  readonly keep_session?: boolean | undefined;
  /** Run in the sandbox of an earlier call. */
  readonly session?: string | undefined;
}

export const PATH_SCHEMA: Schema = {
  type: 'string',
  description: `Below ${WORKSPACE}, such as data/in.csv`,
  minLength: 1,
  maxLength: 4096,
};

export const SESSION_SCHEMA: Schema = {
  type: 'string',
  description: 'The session of an earlier result, whose files are still there',
  minLength: 1,
  maxLength: 100,
};

export const KEEP_SESSION_SCHEMA: Schema = {
  type: 'boolean',
  description: 'Keep the files of this call for later calls; the result names the session',
};

export const TIMEOUT_SCHEMA: Schema = {
  type: 'integer',
  description: 'Everything is ended after so many milliseconds',
  minimum: 100,
  maximum: MAX_TIMEOUT_MS,
};

const FILE_SCHEMA: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['path', 'content'],
  properties: {
    path: PATH_SCHEMA,
    content: { type: 'string', maxLength: MAX_FILE_CHARS },
    encoding: { type: 'string', enum: ['utf8', 'base64'], description: 'Of the content; utf8' },
  },
};

export interface InputSchemaOptions {
  readonly languages?: readonly Language[] | undefined;
  /** Whether callers can ask for a sandbox to be kept. */
  readonly hasSessions?: boolean | undefined;
}

export function makeInputSchema({
  languages = LANGUAGES,
  hasSessions = false,
}: InputSchemaOptions = {}): ObjectSchema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['language', 'code'],
    properties: {
      language: { type: 'string', enum: languages },
      code: { type: 'string', maxLength: MAX_CODE_CHARS, description: 'A whole program' },
      stdin: { type: 'string', maxLength: MAX_FILE_CHARS, description: 'What it reads from stdin' },
      files: {
        type: 'array',
        maxItems: MAX_FILES,
        items: FILE_SCHEMA,
        description: `Files to put below ${WORKSPACE}, where the program starts`,
      },
      outputs: {
        type: 'array',
        maxItems: MAX_FILES,
        items: PATH_SCHEMA,
        description: 'Files whose content is wanted with the result',
      },
      timeout_ms: TIMEOUT_SCHEMA,
      ...(hasSessions ? { keep_session: KEEP_SESSION_SCHEMA, session: SESSION_SCHEMA } : {}),
    },
  };
}

/** Throws what is wrong with it. Whoever calls may be a model, and reads the message. */
export function requireInput(value: unknown, schema: ObjectSchema): void {
  const problem = findInputProblem(value, schema);
  if (!problem) return;
  throw new SandboxError('input_invalid', `Cannot take this input: ${problem.message}`);
}

/** A path below the workspace without its name, or an error. */
export function toWorkspacePath(path: string): string {
  const below = path.startsWith(`${WORKSPACE}/`) ? path.slice(WORKSPACE.length + 1) : path;
  const steps = below.split('/').filter((step) => step !== '' && step !== '.');
  const refuse = (reason: string): SandboxError =>
    new SandboxError('path_invalid', `Cannot use the path ${JSON.stringify(path)}: ${reason}`, {
      hint: `Name a path below ${WORKSPACE}, such as data/in.csv`,
    });
  if (below.startsWith('/')) throw refuse(`it is not below ${WORKSPACE}`);
  if (below.includes('\0')) throw refuse('it has a null character');
  if (steps.includes('..')) throw refuse('it leads upwards');
  if (steps.length === 0) throw refuse('it names no file');
  return steps.join('/');
}

export function decodeFile({ path, content, encoding = 'utf8' }: InputFile): Uint8Array {
  if (encoding === 'utf8') return Buffer.from(content, 'utf8');
  const digits = content.trimEnd().replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/\s]*$/.test(digits))
    throw new SandboxError('input_invalid', `The content of ${path} is not base64`);
  return Buffer.from(content, 'base64');
}
