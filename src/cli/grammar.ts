import {
  type Command,
  type Flag,
  LAYERS,
  POLICY,
  PRESET,
  SANDBOX,
  WORKDIR,
} from './sandbox-grammar.ts';

export type { Command, Flag } from './sandbox-grammar.ts';

const OUTPUT = { short: 'o', value: 'FILE' } as const satisfies Flag;
const BUNDLE = { name: 'BUNDLE', min: 1, max: 1 } as const;
const JSON_SWITCH = { json: {} } as const satisfies Command['flags'];

const BACKENDS = ['local', 'docker', 'gvisor', 'microvm', 'wasm'] as const;

/** What is asked of a sandbox, whoever uses it. */
const SANDBOX_FLAGS = {
  backend: { short: 'b', value: 'BACKEND', choices: BACKENDS },
  net: { value: 'DEST', isList: true },
  timeout: { value: 'DURATION' },
  memory: { value: 'SIZE' },
  disk: { value: 'SIZE' },
  cpu: { value: 'DURATION' },
  cpus: { value: 'COUNT' },
  pids: { value: 'COUNT' },
  image: { value: 'IMAGE' },
  isolation: { value: 'KERNEL', choices: ['shared', 'language', 'userspace', 'separate'] },
  'hard-limits': {},
  workspace: { value: 'DIR' },
  env: { value: 'NAME=VALUE', isRepeatable: true },
} as const satisfies Command['flags'];

/** Every command by its words. This table drives parsing, help and completion. */
export const COMMANDS = {
  sandbox: SANDBOX,
  exec: {
    flags: {
      lang: {
        short: 'l',
        value: 'LANGUAGE',
        choices: ['python', 'javascript', 'typescript', 'bash'],
      },
      ...SANDBOX_FLAGS,
      file: { short: 'f', value: 'FILE', isRepeatable: true },
      out: { value: 'DIR' },
      stdin: { value: 'FILE' },
      evidence: { value: 'FILE' },
      batch: { value: 'FILE' },
      parallel: { value: 'COUNT' },
      quiet: { short: 'q' },
      json: {},
    },
    positional: { name: 'FILE', min: 0, max: 1 },
  },
  mcp: {
    flags: {
      ...SANDBOX_FLAGS,
      http: { value: 'PORT' },
      'token-file': { value: 'FILE' },
      warm: { value: 'COUNT' },
      evidence: { value: 'DIR' },
    },
  },
  wrap: {
    flags: {
      client: {
        value: 'CLIENT',
        choices: ['claude', 'claude-desktop', 'cursor', 'vscode', 'codex', 'gemini', 'mcp-json'],
      },
      file: { short: 'f', value: 'FILE' },
      policy: POLICY,
      preset: PRESET,
      'allow-read': { value: 'PATH', isRepeatable: true },
      'allow-write': { value: 'PATH', isRepeatable: true },
      'allow-net': { value: 'DEST', isRepeatable: true },
      undo: { conflicts: ['policy', 'preset', 'allow-read', 'allow-write', 'allow-net'] },
      'dry-run': { conflicts: ['yes'] },
      yes: { short: 'y' },
    },
    positional: { name: 'SERVER', min: 0, max: Infinity },
  },
  backends: { flags: { 'no-latency': {}, sweep: {}, json: {} } },
  'policy check': { flags: JSON_SWITCH, positional: { name: 'FILE', min: 1, max: 1 } },
  'policy explain': {
    flags: {
      policy: POLICY,
      preset: PRESET,
      op: { value: 'OP', choices: ['read', 'write', 'exec', 'connect'] },
      workdir: WORKDIR,
      json: {},
    },
    positional: { name: 'PATH|HOST', min: 1, max: 1 },
  },
  'policy presets': { flags: JSON_SWITCH, positional: { name: 'NAME', min: 0, max: 1 } },
  'policy schema': { flags: {} },
  'policy suggest': {
    flags: { json: {}, output: OUTPUT },
    positional: { name: 'EVIDENCE', min: 1, max: Infinity },
  },
  'evidence verify': {
    flags: {
      key: { value: 'FILE', isRepeatable: true },
      signature: { value: 'FILE' },
      policy: POLICY,
      require: { value: 'CLAIMS', isList: true },
      json: {},
    },
    positional: { name: 'BUNDLE', min: 0, max: 1 },
  },
  'evidence show': {
    flags: {
      kind: { value: 'KINDS', isList: true },
      path: { value: 'PATTERN', isRepeatable: true },
      outcome: { value: 'OUTCOMES', isList: true },
      format: { value: 'FORMAT', choices: ['table', 'json'] },
      'no-verify': {},
      json: {},
    },
    positional: BUNDLE,
  },
  'evidence lint': {
    flags: {
      pack: { value: 'PACKS', isList: true },
      'fail-on': { value: 'LEVEL', choices: ['error', 'warning', 'warn', 'info', 'none'] },
      explain: { value: 'RULE' },
      'max-results': { value: 'COUNT' },
      format: { value: 'FORMAT', choices: ['text', 'json', 'sarif'] },
      output: OUTPUT,
    },
    positional: { name: 'BUNDLE', min: 0, max: 1 },
  },
  'evidence diff': {
    flags: {
      'baseline-dir': { value: 'DIR' },
      key: { value: 'NAME' },
      'write-baseline': { conflicts: ['update-baseline', 'fail-on', 'format', 'output'] },
      'update-baseline': { conflicts: ['fail-on', 'format', 'output'] },
      'fail-on': { value: 'KINDS', isList: true },
      format: { value: 'FORMAT', choices: ['text', 'human', 'json', 'markdown'] },
      output: OUTPUT,
    },
    positional: { name: 'BUNDLE', min: 1, max: 2 },
  },
  'evidence sign': {
    flags: {
      key: { value: 'FILE' },
      predicate: { value: 'KIND', choices: ['run', 'runtime-trace', 'both'] },
      output: OUTPUT,
      json: {},
    },
    positional: BUNDLE,
  },
  'evidence view': { flags: { html: { value: 'FILE' } }, positional: BUNDLE },
  'evidence export': {
    flags: {
      format: {
        value: 'FORMAT',
        choices: ['ocsf', 'otlp', 'csv', 'upstream', 'upstream-policy'],
      },
      profile: { value: 'FILE' },
      detail: { value: 'DETAIL', choices: ['summary', 'observed', 'full'] },
      output: OUTPUT,
    },
    positional: { name: 'BUNDLE', min: 0, max: 1 },
  },
  'evidence check': {
    flags: { 'allow-degraded': {}, json: {} },
    positional: { name: 'FILE', min: 1, max: 1 },
  },
  keygen: { flags: JSON_SWITCH, positional: { name: 'FILE', min: 1, max: 1 } },
  doctor: { flags: { ...JSON_SWITCH, apparmor: {} } },
  selftest: {
    flags: {
      policy: POLICY,
      preset: PRESET,
      layers: LAYERS,
      json: {},
    },
  },
  completion: {
    flags: {},
    positional: { name: 'SHELL', min: 1, max: 1, choices: ['bash', 'zsh'] },
  },
  help: { flags: {}, positional: { name: 'COMMAND', min: 0, max: 2 } },
  version: { flags: {} },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
