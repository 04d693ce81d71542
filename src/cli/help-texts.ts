import type { COMMANDS, CommandName } from './grammar.ts';

export interface FlagText {
  readonly group: string;
  readonly help: string;
}

export interface CommandText {
  readonly summary: string;
  readonly flags: Readonly<Record<string, FlagText>>;
  readonly notes?: readonly string[];
  readonly examples: readonly { readonly line: string; readonly why: string }[];
}

/** The compiler asks for a text for every flag of the table, and for none besides. */
type Texts = {
  readonly [Name in CommandName]: Omit<CommandText, 'flags'> & {
    readonly flags: { readonly [F in keyof (typeof COMMANDS)[Name]['flags']]: FlagText };
  };
};

export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  policy: 'Check, explain and list policies',
};

const POLICY: FlagText = { group: 'Policy', help: 'Policy file, YAML or JSON' };
const PRESET: FlagText = { group: 'Policy', help: 'Built-in policy; see assay policy presets' };
const WORKDIR: FlagText = {
  group: 'Policy',
  help: 'Where the program starts, and what ${CWD} stands for',
};
const LAYERS: FlagText = {
  group: 'Enforcement',
  help: '-mount,-user leaves layers out, landlock,seccomp keeps only these',
};
const JSON_OUT: FlagText = { group: 'Output', help: 'Print JSON' };

export const TEXTS: Texts = {
  sandbox: {
    summary: 'Run a command inside a boundary that the kernel enforces',
    flags: {
      policy: POLICY,
      preset: PRESET,
      'allow-read': { group: 'Policy', help: 'Also let it read this, and what is below' },
      'allow-write': {
        group: 'Policy',
        help: 'Also let it read and write this, and what is below',
      },
      deny: { group: 'Policy', help: 'Refuse this whatever allows it: ~/.ssh, **/*.pem' },
      'allow-unix': { group: 'Policy', help: 'Also let it connect to this unix socket' },
      workdir: WORKDIR,
      enforce: { group: 'Enforcement', help: 'Refuse to start where nothing can be enforced' },
      'fail-closed': {
        group: 'Enforcement',
        help: 'Refuse to start unless every rule is enforced',
      },
      'dry-run': {
        group: 'Enforcement',
        help: 'Block nothing, and say what would be; then exit 4',
      },
      layers: LAYERS,
      'env-allow': { group: 'Environment', help: 'Pass these, secret or not: NAME,NAME or AWS_*' },
      'env-strict': { group: 'Environment', help: 'Pass a safe base and what is allowed, no more' },
      'env-strip-exec': {
        group: 'Environment',
        help: 'Strip what steers which code runs, also if the policy does not',
      },
      'env-safe-path': { group: 'Environment', help: 'Set PATH to /usr/bin:/bin' },
      'env-passthrough': { group: 'Environment', help: 'Pass everything, secrets included' },
      timeout: { group: 'Limits', help: 'Wall-clock time: 30s, 5m; then exit 124' },
      'limit-cpu': { group: 'Limits', help: 'Processor time: 30s, 5m' },
      'limit-memory': { group: 'Limits', help: 'Memory: 512M, 2G' },
      'limit-pids': { group: 'Limits', help: 'Processes and threads at one time' },
      'limit-disk': { group: 'Limits', help: 'Bytes in the private tmp: 100M' },
      'limit-files': { group: 'Limits', help: 'Files and directories created' },
      quiet: { group: 'Output', help: 'No banner; warnings stay' },
      verbose: { group: 'Output', help: 'Say more: layers, environment' },
      json: {
        group: 'Output',
        help: 'What happens, then a summary, to a file, fd:3, or - (stderr)',
      },
      progress: { group: 'Output', help: 'Show on the terminal how far the run has come' },
      observe: {
        group: 'Record',
        help: 'Watch all, effects (no reads) or none; all for a profile',
      },
      profile: {
        group: 'Record',
        help: 'Write a suggested policy here, and evidence and a report beside it',
      },
      'profile-format': { group: 'Record', help: 'Of policy and evidence; yaml if not given' },
      'profile-report': { group: 'Record', help: 'Where to write the report instead' },
    },
    notes: [
      'Everything from COMMAND on belongs to the program and is passed untouched.',
      'Exit: the code of the program, 128+n after signal n, 124 after the timeout,',
      '126 or 127 when it cannot be run, 2 when assay refuses, 3 when assay fails.',
    ],
    examples: [
      { line: 'assay sandbox -- npx some-mcp-server', why: 'The workspace readable, no network' },
      { line: 'assay sandbox --preset coding-agent -- agent', why: 'The workspace writable' },
      { line: 'assay sandbox -p policy.yaml --fail-closed -- make', why: 'All of it, or nothing' },
      { line: "assay sandbox --allow-write out --deny '**/.env*' -- make", why: 'Quick rules' },
      { line: 'assay sandbox --env-allow GITHUB_TOKEN -- gh pr list', why: 'Pass one secret' },
    ],
  },
  'policy check': {
    summary: 'Check a policy file, and the examples in it',
    flags: { json: JSON_OUT },
    examples: [
      { line: 'assay policy check policy.yaml', why: 'Exit 2 and the place, if it is wrong' },
    ],
  },
  'policy explain': {
    summary: 'Say which rule decides on a path or host, and which layer enforces it',
    flags: {
      policy: POLICY,
      preset: PRESET,
      op: { group: 'Policy', help: 'Only this: read, write, exec or connect' },
      workdir: WORKDIR,
      json: JSON_OUT,
    },
    examples: [
      { line: 'assay policy explain ~/.ssh/id_ed25519', why: 'Under the default policy' },
      { line: 'assay policy explain .git/config --op write', why: 'One right' },
      { line: 'assay policy explain example.com:443 -p policy.yaml', why: 'A host' },
    ],
  },
  'policy presets': {
    summary: 'List the built-in policies',
    flags: { json: JSON_OUT },
    examples: [
      { line: 'assay policy presets', why: 'Names, and what they allow' },
      { line: 'assay policy presets coding-agent', why: 'One of them, as a policy file' },
    ],
  },
  'policy schema': {
    summary: 'Print the JSON Schema of policy files, for editors',
    flags: {},
    examples: [{ line: 'assay policy schema > assay.schema.json', why: 'Point your editor at it' }],
  },
  'policy suggest': {
    summary: 'Make one policy under which recorded runs pass',
    flags: {
      json: JSON_OUT,
      output: { group: 'Output', help: 'Write to this file instead of standard output' },
    },
    notes: ['Evidence that was changed after the run is refused with exit 2.'],
    examples: [
      { line: 'assay policy suggest run.profile.evidence.yaml', why: 'From one run' },
      { line: 'assay policy suggest *.evidence.yaml -o policy.yaml', why: 'From several' },
    ],
  },
  doctor: {
    summary: 'Say what this machine can enforce, and what to do about the rest',
    flags: { json: JSON_OUT },
    examples: [{ line: 'assay doctor', why: 'Kernel, every layer, advice' }],
  },
  selftest: {
    summary: 'Attack the sandbox on this machine and show what held',
    flags: { policy: POLICY, preset: PRESET, layers: LAYERS, json: JSON_OUT },
    notes: ['Exit 1 when an attack got through.'],
    examples: [
      { line: 'assay selftest', why: 'The default policy' },
      { line: 'assay selftest --layers=-mount,-user', why: 'As on a host without namespaces' },
    ],
  },
  completion: {
    summary: 'Print the completion script for a shell',
    flags: {},
    examples: [
      { line: 'source <(assay completion bash)', why: 'In ~/.bashrc' },
      { line: 'assay completion zsh > "${fpath[1]}/_assay"', why: 'Then start a new zsh' },
    ],
  },
  help: {
    summary: 'Show help for a command',
    flags: {},
    examples: [{ line: 'assay help sandbox', why: 'The same as assay sandbox --help' }],
  },
  version: {
    summary: 'Print the version',
    flags: {},
    examples: [{ line: 'assay --version', why: 'The same' }],
  },
};
