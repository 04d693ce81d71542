import type { PolicyData, EnvironmentData, EndData } from '../bundle/event-data.ts';

/** One thing that is known of a subject, such as that a program wrote it; the keys say what each text is. */
export type Facet = Readonly<Record<string, string>>;

export const GROUPS = [
  'network',
  'files',
  'programs',
  'refusals',
  'coverage',
  'folded',
  'degradations',
  'layers',
  'policy',
  'environment',
  'run',
  'limits',
  'events',
  'system-reads',
] as const;

export type Group = (typeof GROUPS)[number];

/** What a subject has in one bundle and not in the other. */
export interface Difference {
  readonly group: Group;
  /** A path, an endpoint, the image of a program, a rule, a name. */
  readonly subject: string;
  readonly change: 'new' | 'gone' | 'changed';
  /** Only in the baseline. */
  readonly before: readonly Facet[];
  /** Only in the candidate. */
  readonly after: readonly Facet[];
  /** In both. */
  readonly same: readonly Facet[];
}

/** What a comparison can be asked to fail on, the gravest first. */
export const KINDS = {
  'new-host': 'an endpoint outside the sandbox that the baseline did not reach for',
  'new-write-outside': 'a write outside the workspace and the private tmp',
  'new-write-config': 'a write to protected configuration',
  'new-program': 'a program or script that did not run in the baseline',
  'new-denial': 'an attempt that was refused',
  'coverage-loss': 'something that was watched less than in the baseline',
  degradation: 'something that was not enforced',
  'layer-loss': 'a layer that holds less than in the baseline',
  'policy-weakened': 'a policy that allows more, or refuses less',
  'policy-change': 'another policy',
  'changed-program': 'a program with another image, or started by another one',
  'new-endpoint': 'an endpoint that the baseline did not use, loopback and own sockets included',
  'new-environment': 'a variable that the program did not get in the baseline',
  'command-change': 'another command',
  'end-change': 'another exit code, signal, timeout or limit',
} as const;

export type Kind = keyof typeof KINDS;

/** A difference and what it amounts to. */
export interface JudgedDifference extends Difference {
  /** In the order of {@link KINDS}. */
  readonly kinds: readonly Kind[];
}

/** What is said once in a bundle. */
export interface RunStatement {
  command?: readonly string[];
  mode?: string;
  level?: string;
  network?: string;
  policy?: Pick<PolicyData, 'name' | 'digest' | 'policy' | 'toolchain'>;
  /** Of bundles that name their policy but do not hold it. */
  policyId?: string;
  environment?: EnvironmentData;
  end?: EndData;
  readonly layers: Map<string, { readonly status: string; readonly reason: string }>;
  readonly coverage: Map<string, { readonly status: string; readonly reasons: readonly string[] }>;
}
