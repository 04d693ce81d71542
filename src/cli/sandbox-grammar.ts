/** A flag, under its long name. Without `value` it is a switch. The prose is in help-texts.ts, off the hot path. */
export interface Flag {
  readonly short?: string;
  /** What the value is, as help shows it; completion knows some of these (FILE, DIR, PRESET, LAYERS). */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly isRepeatable?: boolean;
  /** One value holds several, with commas between them. Such a flag is repeatable, too. */
  readonly isList?: boolean;
  readonly conflicts?: readonly string[];
}

export interface Command {
  readonly flags: Readonly<Record<string, Flag>>;
  readonly positional?: {
    readonly name: string;
    readonly min: number;
    readonly max: number;
    readonly choices?: readonly string[];
    /** The first one starts somebody else's command line: everything from there on is passed untouched. */
    readonly isCommand?: boolean;
  };
}

export const POLICY = { short: 'p', value: 'FILE' } as const satisfies Flag;
export const PRESET = { value: 'PRESET' } as const satisfies Flag;
export const WORKDIR = { short: 'w', value: 'DIR' } as const satisfies Flag;
export const LAYERS = { value: 'LAYERS' } as const satisfies Flag;

/** Apart from the other commands, since it is the one that must start fast. */
export const SANDBOX = {
  flags: {
    policy: POLICY,
    preset: PRESET,
    'allow-read': { value: 'PATH', isRepeatable: true },
    'allow-write': { value: 'PATH', isRepeatable: true },
    deny: { value: 'PATTERN', isRepeatable: true },
    'allow-unix': { value: 'PATH', isRepeatable: true },
    'allow-net': { value: 'DEST', isRepeatable: true },
    workdir: WORKDIR,
    timeout: { value: 'DURATION' },
    enforce: { conflicts: ['dry-run'] },
    'dry-run': { conflicts: ['enforce'] },
    'fail-closed': {},
    layers: LAYERS,
    'env-allow': { value: 'NAMES', isList: true },
    'env-strict': {},
    'env-strip-exec': {},
    'env-safe-path': {},
    'env-passthrough': {},
    'limit-cpu': { value: 'DURATION' },
    'limit-memory': { value: 'SIZE' },
    'limit-pids': { value: 'COUNT' },
    'limit-disk': { value: 'SIZE' },
    'limit-files': { value: 'COUNT' },
    quiet: { short: 'q' },
    verbose: { short: 'v' },
    json: { value: 'TARGET' },
    observe: { value: 'LEVEL', choices: ['all', 'effects', 'none'] },
    profile: { value: 'FILE' },
    'profile-format': { value: 'FORMAT', choices: ['yaml', 'json'] },
    'profile-report': { value: 'FILE' },
    bundle: { value: 'FILE' },
    progress: {},
  },
  positional: { name: 'COMMAND', min: 1, max: Infinity, isCommand: true },
} as const satisfies Command;
