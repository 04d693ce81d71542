import type { COMMANDS, CommandName } from './grammar.ts';
import { TOOL_TEXTS } from './tool-help-texts.ts';

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
  evidence: 'Verify, show, compare and sign what runs have left behind',
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
const OUTPUT: FlagText = { group: 'Output', help: 'Write to this file instead of standard output' };
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
      'allow-net': {
        group: 'Policy',
        help: 'Also let it connect there: example.org:443, 10.1.0.0/16, github',
      },
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
      bundle: { group: 'Record', help: 'Write the evidence bundle, a .tar.gz' },
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
  ...TOOL_TEXTS,
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
  'evidence verify': {
    summary: 'Check that a bundle is intact, who signed it and what it allows to say',
    flags: {
      key: { group: 'Trust', help: 'Public key, PEM or SSH, of a signer to trust' },
      signature: { group: 'Trust', help: 'Envelope; otherwise BUNDLE.intoto.jsonl' },
      policy: { group: 'Trust', help: 'The run must have been under exactly this policy' },
      require: {
        group: 'Trust',
        help: 'no-egress, no-denials, no-writes-outside-workspace, complete:SURFACE',
      },
      json: JSON_OUT,
    },
    examples: [
      { line: 'assay evidence verify run.bundle.tar.gz --key ops.pub', why: 'Who signed it' },
      {
        line: 'assay evidence verify run.bundle.tar.gz --require no-egress,complete:network',
        why: 'Fail unless the record supports it',
      },
    ],
  },
  'evidence show': {
    summary: 'List what is in a bundle',
    flags: {
      kind: { group: 'Choice', help: 'file, program, network, refusal, change, degradation, …' },
      path: { group: 'Choice', help: 'Only subjects that match, such as ${CWD}/**' },
      outcome: { group: 'Choice', help: 'ok, failed, refused, or an error such as EACCES' },
      'no-verify': { group: 'Choice', help: 'Show it even if it is not intact' },
      format: { group: 'Output', help: 'table or json' },
      json: JSON_OUT,
    },
    examples: [
      {
        line: 'assay evidence show run.bundle.tar.gz --outcome refused',
        why: 'What the sandbox did not let through',
      },
    ],
  },
  'evidence lint': {
    summary: 'Look for what a reviewer should see in a bundle',
    flags: {
      pack: {
        group: 'Rules',
        help: 'More rules: files, directories, or names of packs of yours',
      },
      'fail-on': { group: 'Rules', help: 'Exit with 1 from this severity on; error if not given' },
      explain: { group: 'Rules', help: 'Say what a rule looks for, and how to mend it' },
      'max-results': { group: 'Rules', help: 'At most so many findings, the gravest first' },
      format: { group: 'Output', help: 'text, json or sarif' },
      output: OUTPUT,
    },
    examples: [
      {
        line: 'assay evidence lint run.bundle.tar.gz --format sarif -o lint.sarif',
        why: 'For code scanning',
      },
    ],
  },
  'evidence diff': {
    summary: 'Say what one run did that another did not',
    flags: {
      'baseline-dir': { group: 'Baseline', help: 'Where stored baselines are' },
      key: { group: 'Baseline', help: 'Which of them' },
      'write-baseline': { group: 'Baseline', help: 'Store this bundle as a new baseline' },
      'update-baseline': { group: 'Baseline', help: 'Store this bundle instead of the baseline' },
      'fail-on': {
        group: 'Gate',
        help: 'Exit with 1 for new-host, new-program, new-write-outside, new-denial, …',
      },
      format: { group: 'Output', help: 'text, json or markdown' },
      output: OUTPUT,
    },
    examples: [
      {
        line: 'assay evidence diff main.bundle.tar.gz pr.bundle.tar.gz --fail-on new-host',
        why: 'Gate a change',
      },
    ],
  },
  'evidence sign': {
    summary: 'Sign a bundle: an in-toto statement in a DSSE envelope beside it',
    flags: {
      key: { group: 'Key', help: 'Private key, Ed25519 PEM or SSH; see assay keygen' },
      predicate: { group: 'Key', help: 'run, runtime-trace or both; run if not given' },
      output: { group: 'Output', help: 'Envelope file; otherwise BUNDLE.intoto.jsonl' },
      json: JSON_OUT,
    },
    examples: [
      {
        line: 'assay evidence sign run.bundle.tar.gz --key ops',
        why: 'With a key of assay keygen',
      },
    ],
  },
  'evidence view': {
    summary: 'Look at a bundle as a page',
    flags: { html: { group: 'Output', help: 'Write the page to this file, and open nothing' } },
    examples: [
      { line: 'assay evidence view run.bundle.tar.gz --html run.html', why: 'To pass it on' },
    ],
  },
  'evidence export': {
    summary: 'Write what is in a bundle in the form that other tools read',
    flags: {
      format: { group: 'Output', help: 'ocsf, otlp, csv, upstream or upstream-policy' },
      profile: { group: 'Input', help: 'An evidence profile instead of a bundle' },
      detail: { group: 'Input', help: 'With upstream: summary, observed (if not given) or full' },
      output: OUTPUT,
    },
    examples: [
      { line: 'assay evidence export run.bundle.tar.gz --format ocsf', why: 'For a log store' },
    ],
  },
  'evidence check': {
    summary: 'Judge a loose evidence document: sandbox events, a carrier, enforcement health',
    flags: {
      'allow-degraded': { group: 'Choice', help: 'A degraded run is no failure' },
      json: JSON_OUT,
    },
    examples: [{ line: 'assay evidence check events.json', why: 'Exit with 6 if it was degraded' }],
  },
  keygen: {
    summary: 'Make a key pair to sign evidence with',
    flags: { json: JSON_OUT },
    examples: [{ line: 'assay keygen ops', why: 'Writes ops, which is secret, and ops.pub' }],
  },
  doctor: {
    summary: 'Say what this machine can enforce, and what to do about the rest',
    flags: {
      json: JSON_OUT,
      apparmor: {
        group: 'Output',
        help: 'Print the profile by which AppArmor lets assay make user namespaces',
      },
    },
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
