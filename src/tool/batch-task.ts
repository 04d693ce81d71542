import { findJsonProblem } from '../core/strict-json.ts';
import type { LimitNames } from '../backends/limit-names.ts';
import type { SandboxLimits } from '../backends/spec.ts';
import type { Language } from '../backends/backend.ts';
import { makeInputSchema, PATH_SCHEMA } from './code-input.ts';
import { locateInJson } from './locate-json.ts';
import type { ReadLine } from './read-lines.ts';
import { findInputProblem, type ObjectSchema, type Schema, type ValuePath } from './schema.ts';

/** One line of a batch. */
export interface BatchTask {
  readonly id?: string | undefined;
  readonly language: Language;
  readonly code?: string | undefined;
  /** Of the host, instead of `code`. */
  readonly file?: string | undefined;
  readonly files?: readonly BatchFile[] | undefined;
  readonly stdin?: string | undefined;
  readonly outputs?: readonly string[] | undefined;
  /** Of what the whole batch may reach, what this one may. */
  readonly net?: readonly string[] | undefined;
  readonly timeout_ms?: number | undefined;
  readonly cpu_ms?: number | undefined;
  readonly memory_bytes?: number | undefined;
  readonly disk_bytes?: number | undefined;
  readonly pids?: number | undefined;
}

export interface BatchFile {
  readonly path: string;
  readonly content?: string | undefined;
  readonly encoding?: 'utf8' | 'base64' | undefined;
  /** A file of the host, instead of `content`. */
  readonly from?: string | undefined;
}

export interface TaskProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Where it could be read in spite of the problem. */
  readonly id?: string | undefined;
}

const JSON_LIMITS = { depth: 16, keys: 1000, stringLength: 16 * 1024 * 1024 };
const AMOUNT: Schema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const HOST_PATH: Schema = { type: 'string', minLength: 1, maxLength: 4096 };

const CODE = makeInputSchema().properties;
const TASK_SCHEMA: ObjectSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['language'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 200 },
    ...CODE,
    file: HOST_PATH,
    files: {
      type: 'array',
      maxItems: 256,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['path'],
        properties: { ...CODE['files']?.items?.properties, path: PATH_SCHEMA, from: HOST_PATH },
      },
    },
    net: { type: 'array', maxItems: 64, items: { type: 'string', minLength: 1, maxLength: 300 } },
    cpu_ms: AMOUNT,
    memory_bytes: AMOUNT,
    disk_bytes: AMOUNT,
    pids: AMOUNT,
  },
};

/** A task, or what is wrong with the line and where. */
export function parseTask(line: ReadLine): BatchTask | TaskProblem {
  const { number, text } = line;
  if (text === undefined) return { line: number, column: 1, message: line.problem ?? '' };
  const syntax = findJsonProblem(text, JSON_LIMITS);
  if (syntax) return { line: number, column: syntax.offset + 1, message: syntax.message };
  const value = JSON.parse(text) as unknown;
  const problem = findInputProblem(value, TASK_SCHEMA) ?? findContradiction(value as BatchTask);
  if (!problem) return value as BatchTask;
  const { id } = (value ?? {}) as { readonly id?: unknown };
  return {
    line: number,
    column: locateInJson(text, problem.path) + 1,
    message: problem.message,
    id: typeof id === 'string' ? id : undefined,
  };
}

export function isTaskProblem(task: BatchTask | TaskProblem): task is TaskProblem {
  return 'message' in task;
}

/** What limits are called in a task. */
export const TASK_LIMITS: LimitNames = {
  wallMs: 'timeout_ms',
  cpuMs: 'cpu_ms',
  memoryBytes: 'memory_bytes',
  diskBytes: 'disk_bytes',
  pids: 'pids',
};

export function toTaskLimits(task: BatchTask): SandboxLimits {
  return {
    cpuMs: task.cpu_ms,
    memoryBytes: task.memory_bytes,
    diskBytes: task.disk_bytes,
    pids: task.pids,
  };
}

function findContradiction(task: BatchTask): { path: ValuePath; message: string } | undefined {
  if ((task.code === undefined) === (task.file === undefined))
    return { path: [], message: 'the task needs one of "code" and "file"' };
  const index = (task.files ?? []).findIndex(
    ({ content, from }) => (content === undefined) === (from === undefined),
  );
  if (index === -1) return undefined;
  return { path: ['files', index], message: `files[${index}] needs one of "content" and "from"` };
}
