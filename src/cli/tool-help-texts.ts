import type { CommandText } from './help-texts.ts';

const SANDBOX_TEXTS = {
  backend: { group: 'Sandbox', help: 'local (if not given), docker, gvisor, microvm or wasm' },
  net: { group: 'Sandbox', help: 'Let it connect there: example.org:443; otherwise nowhere' },
  workspace: { group: 'Sandbox', help: 'DIR:copy, DIR:ro or DIR:rw at /workspace; a copy' },
  env: { group: 'Sandbox', help: 'Set a variable; nothing of yours is passed' },
  image: { group: 'Sandbox', help: 'Of a container: which image' },
  isolation: {
    group: 'Sandbox',
    help: 'Refuse less than shared, language, userspace or separate',
  },
  timeout: { group: 'Limits', help: 'Wall-clock time: 30s, 5m; 30s if not given' },
  cpu: { group: 'Limits', help: 'Processor time: 10s' },
  cpus: { group: 'Limits', help: 'Processors at a time: 0.5, 2' },
  memory: { group: 'Limits', help: 'Memory: 256M; 512M if not given' },
  pids: { group: 'Limits', help: 'Processes and threads at one time; 64 if not given' },
  disk: { group: 'Limits', help: 'Bytes on disk: 10M; 64M if not given' },
  'hard-limits': { group: 'Limits', help: 'Refuse limits that the kernel or engine do not keep' },
} as const satisfies CommandText['flags'];

/** Of the commands around the code-execution tool. */
export const TOOL_TEXTS = {
  exec: {
    summary: 'Run code in a sandbox of its own, and say what it did',
    flags: {
      lang: { group: 'Code', help: 'python, javascript, typescript or bash; a file may tell' },
      file: { group: 'Code', help: 'Put this file beside it; HOST:INSIDE gives it another name' },
      stdin: { group: 'Code', help: 'What the program reads; nothing if not given' },
      out: { group: 'Code', help: 'Copy what it made or changed here' },
      ...SANDBOX_TEXTS,
      batch: { group: 'Batch', help: 'Run the tasks of this file, one in JSON a line' },
      parallel: { group: 'Batch', help: 'So many at a time; 4 if not given' },
      evidence: { group: 'Output', help: 'Write the evidence bundle; of a batch, a directory' },
      quiet: { group: 'Output', help: 'Nothing but what the program prints' },
      json: { group: 'Output', help: 'Print the result as JSON instead' },
    },
    notes: [
      'The code is read from FILE, or from standard input.',
      'Exit: the code of the program, 124 after the timeout, 137 when a limit ended it,',
      '2 when assay refuses, 3 when assay fails; of a batch 1 when a task failed.',
    ],
    examples: [
      { line: 'assay exec --lang python < main.py', why: 'No network, no files of yours' },
      { line: 'assay exec -f in.csv --out made main.py', why: 'Files in and out' },
      { line: 'assay exec --net example.org:443 main.mjs', why: 'One host and no other' },
      { line: 'assay exec -b gvisor --memory 256M main.py', why: 'Behind another kernel' },
      { line: 'assay exec --batch tasks.ndjson --parallel 8', why: 'Many, each in its own' },
    ],
  },
  mcp: {
    summary: 'Serve sandboxes to an MCP client: run code and programs, read and write files',
    flags: {
      http: { group: 'Transport', help: 'On 127.0.0.1 at this port, 0 for a free one; else stdio' },
      'token-file': { group: 'Transport', help: 'Write the token here instead of showing it' },
      ...SANDBOX_TEXTS,
      warm: { group: 'Sandbox', help: 'Keep so many sandboxes ready; 1 if not given' },
      evidence: { group: 'Record', help: 'Write an evidence bundle of every run here' },
    },
    notes: ['The flags hold for every sandbox. A client cannot ask for more than they allow.'],
    examples: [
      { line: 'assay mcp', why: 'As the command of an MCP server in a client' },
      { line: 'assay mcp --net example.org:443 --timeout 2m', why: 'With one host and more time' },
      { line: 'assay mcp --http 0 --token-file token', why: 'For several clients of this machine' },
    ],
  },
  wrap: {
    summary: 'Put the MCP servers of other clients under assay sandbox, or take them out',
    flags: {
      client: { group: 'Which', help: 'Only of this client; all that are found if not given' },
      file: { group: 'Which', help: 'Only this file, JSON or TOML' },
      policy: { group: 'Policy', help: 'Policy file that the servers run under' },
      preset: { group: 'Policy', help: 'Built-in policy; see assay policy presets' },
      'allow-read': { group: 'Policy', help: 'Also let them read this, and what is below' },
      'allow-write': { group: 'Policy', help: 'Also let them read and write this' },
      'allow-net': { group: 'Policy', help: 'Also let them connect there: example.org:443' },
      undo: { group: 'Change', help: 'Put back exactly what was there' },
      'dry-run': { group: 'Change', help: 'Show what would be changed, and change nothing' },
      yes: { group: 'Change', help: 'Do not ask' },
    },
    notes: [
      'Shows the difference and asks before anything is written. Variables that a',
      'client sets for a server are passed on to it. Remote servers are left alone.',
    ],
    examples: [
      { line: 'assay wrap --client cursor --dry-run', why: 'See what would change' },
      { line: 'assay wrap --allow-net api.example.com:443 weather', why: 'One server' },
      { line: 'assay wrap --undo', why: 'As it was' },
    ],
  },
  backends: {
    summary: 'Say which kinds of sandbox there are here, and what each guarantees',
    flags: {
      'no-latency': { group: 'Choice', help: 'Do not measure how long a sandbox takes here' },
      sweep: { group: 'Choice', help: 'Remove what runs that were killed have left' },
      json: { group: 'Output', help: 'Print JSON' },
    },
    examples: [
      { line: 'assay backends', why: 'Engine, guarantees, time' },
      { line: 'assay backends --no-latency --json', why: 'At once, for a program' },
    ],
  },
} as const satisfies Readonly<Record<string, CommandText>>;
