import { constants } from 'node:os';

/** What the helper tries, one after the other. `notify` and `memory` are what the broker stands on. */
export const PROBES = [
  'landlock',
  'user',
  'mount',
  'pid',
  'ipc',
  'net',
  'nft',
  'seccomp',
  'notify',
  'memory',
  'descriptors',
] as const;
export type ProbeName = (typeof PROBES)[number];

/** What one try came to: the name of the error, or an empty string when it worked. */
export type ProbeErrors = Readonly<Record<ProbeName, string>>;

export interface ParsedProbe {
  readonly errors: ProbeErrors;
  readonly landlockAbi: number;
}

function nameErrno(errno: number): string {
  if (errno === 0) return '';
  // One number has two names; this is the one that the kernel's own pages use.
  if (errno === constants.errno.EOPNOTSUPP) return 'EOPNOTSUPP';
  return (
    Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `error ${errno}`
  );
}

/** The lines of `assay-helper probe`: a name and a number. A probe that is not there counts as not answered. */
export function parseProbe(text: string): ParsedProbe {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, number] = /^(\w+) (-?\d+)$/.exec(line) ?? [];
    if (name !== undefined) found.set(name, Number(number));
  }
  const errors = Object.fromEntries(
    PROBES.map((name) => {
      const errno = found.get(name);
      return [name, errno === undefined ? 'no answer' : nameErrno(errno)];
    }),
  ) as ProbeErrors;
  return { errors, landlockAbi: errors.landlock === '' ? (found.get('landlock_abi') ?? 0) : 0 };
}
