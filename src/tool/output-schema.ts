import type { ObjectSchema, Schema } from './schema.ts';

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };

const DENIAL: Schema = {
  type: 'object',
  required: ['action', 'target'],
  properties: {
    action: {
      type: 'string',
      description: 'fs.read, fs.write, net.connect, net.dns, exec or syscall',
    },
    target: TEXT,
    rule: { type: 'string', description: 'What refused it' },
    hint: { type: 'string', description: 'What would allow it' },
  },
};

const CHANGE: Schema = {
  type: 'object',
  required: ['path', 'change'],
  properties: {
    path: TEXT,
    change: { type: 'string', enum: ['added', 'modified', 'deleted'] },
    sha256: TEXT,
    size_bytes: COUNT,
  },
};

export const OUTPUT_FILE_SCHEMA: Schema = {
  type: 'object',
  required: ['path'],
  properties: {
    path: TEXT,
    content: TEXT,
    encoding: { type: 'string', enum: ['utf8', 'base64'] },
    error: { type: 'string', description: 'Why there is no content' },
  },
};

/** Of `execute_code` and `sandbox_exec`. */
export const OUTPUT_SCHEMA: ObjectSchema = {
  type: 'object',
  required: [
    'outcome',
    'exit_code',
    'stdout',
    'stderr',
    'truncated',
    'duration_ms',
    'usage',
    'reached',
    'denials',
    'files',
    'evidence',
  ],
  properties: {
    outcome: {
      type: 'string',
      enum: ['exited', 'signaled', 'timeout', 'limit', 'aborted', 'refused'],
    },
    limit: { type: 'string', description: 'Which limit ended it' },
    signal: TEXT,
    exit_code: { type: 'integer', description: 'As a shell would say it' },
    stdout: TEXT,
    stderr: TEXT,
    stdout_base64: { type: 'string', description: 'The same bytes, where they are not UTF-8' },
    stderr_base64: { type: 'string', description: 'The same bytes, where they are not UTF-8' },
    truncated: {
      type: 'object',
      description: 'Bytes that were left out of each',
      required: ['stdout', 'stderr'],
      properties: { stdout: COUNT, stderr: COUNT, stdout_base64: COUNT, stderr_base64: COUNT },
    },
    duration_ms: COUNT,
    usage: {
      type: 'object',
      properties: { cpu_ms: COUNT, max_memory_bytes: COUNT, disk_bytes: COUNT },
    },
    reached: { type: 'array', items: TEXT, description: 'Limits that were reached' },
    denials: { type: 'array', items: DENIAL, description: 'What was refused, and why' },
    files: { type: 'array', items: CHANGE, description: 'What the program changed' },
    files_error: { type: 'string', description: 'Why it is not known what was changed' },
    outputs: { type: 'array', items: OUTPUT_FILE_SCHEMA },
    session: { type: 'string', description: 'Of the sandbox, if it was kept' },
    evidence: {
      type: 'object',
      properties: {
        run_id: TEXT,
        code_sha256: TEXT,
        coverage: { type: 'object', description: 'What of the run was watched' },
        bundle: {
          type: 'object',
          required: ['path', 'sha256'],
          properties: { path: TEXT, sha256: TEXT },
        },
      },
    },
  },
};
