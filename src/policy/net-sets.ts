/** Addresses by what they are; the ranges are in special-ranges.ts. */
const ADDRESS_SETS = ['private', 'loopback', 'link-local', 'metadata'] as const;

/** The registries that a tool of this host is configured to use; nobody but the tool can tell. */
const HOST_SETS = ['npm', 'pip', 'cargo'] as const;

/** What a service or an agent cannot do without, as entries of `net.allow`. */
const NAMED_HOSTS = {
  github: [
    'github.com:443',
    '*.github.com:443',
    '*.githubusercontent.com:443',
    'ghcr.io:443',
    'github.com:22',
    'ssh.github.com:22',
  ],
  claude: ['api.anthropic.com:443', 'claude.ai:443', 'platform.claude.com:443'],
  codex: ['api.openai.com:443', 'auth.openai.com:443', 'chatgpt.com:443'],
  gemini: [
    'generativelanguage.googleapis.com:443',
    'cloudcode-pa.googleapis.com:443',
    'oauth2.googleapis.com:443',
    'accounts.google.com:443',
  ],
} as const satisfies Record<string, readonly string[]>;

export type AddressSet = (typeof ADDRESS_SETS)[number];
export type HostSet = (typeof HOST_SETS)[number];
export type SetName = AddressSet | HostSet | keyof typeof NAMED_HOSTS;

export const SET_NAMES: readonly SetName[] = [
  ...ADDRESS_SETS,
  ...(Object.keys(NAMED_HOSTS) as (keyof typeof NAMED_HOSTS)[]),
  ...HOST_SETS,
];

export function isSetName(text: string): text is SetName {
  return SET_NAMES.some((name) => name === text);
}

export function isAddressSet(name: SetName): name is AddressSet {
  return ADDRESS_SETS.some((one) => one === name);
}

export function isHostSet(name: SetName): name is HostSet {
  return HOST_SETS.some((one) => one === name);
}

/** The entries that a set of names stands for; undefined for a set of addresses or of this host. */
export function findNamedHosts(name: SetName): readonly string[] | undefined {
  return Object.hasOwn(NAMED_HOSTS, name)
    ? NAMED_HOSTS[name as keyof typeof NAMED_HOSTS]
    : undefined;
}
