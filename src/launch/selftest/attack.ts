import type { FsRight } from '../../policy/policy.ts';
import type { Stage } from './stage.ts';

/** How one run of an attack went. */
export interface AttackRun {
  readonly stdout: string;
  readonly stderr: string;
  /** The program itself began; without this a failure proves nothing. */
  readonly hasStarted: boolean;
  /** It had not ended by itself by then. */
  readonly cutAfterMs?: number | undefined;
}

/** What the policy is asked about when an attack gets through: it may allow just that. */
export type Target =
  | { readonly kind: 'file'; readonly op: FsRight; readonly path: string }
  /** Kept by more than rules: a policy has to name it. */
  | { readonly kind: 'git config'; readonly path: string }
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'network' }
  | { readonly kind: 'environment' };

export const ATTACK_CLASSES = [
  'read',
  'write',
  'configuration',
  'environment',
  'process',
  'network',
  'unix socket',
  'privilege',
  'system call',
  'exhaust',
  'persist',
] as const;
export type AttackClass = (typeof ATTACK_CLASSES)[number];

/** A program that tries something, and how one sees from outside whether it worked. */
export interface Attack {
  readonly id: string;
  readonly title: string;
  readonly class: AttackClass;
  readonly language: 'node' | 'python';
  /** In it, `S` holds the facts of the stage, and `say` prints a line. */
  readonly program: string;
  readonly isThrough: (run: AttackRun, stage: Stage) => boolean | Promise<boolean>;
  readonly target?: ((stage: Stage) => Target) | undefined;
  /** Flags of `assay sandbox`. */
  readonly flags?: readonly string[];
  /** Needs a workspace that can be written; used when the caller names no policy. */
  readonly isWorkspaceWritten?: boolean;
  readonly hasVictim?: boolean;
  readonly prepare?: (stage: Stage) => void;
  readonly onLine?: (line: string, stage: Stage) => void;
  /** Passed as a descriptor beyond 0, 1 and 2. */
  readonly inherit?: (stage: Stage) => string;
  /** Said when the attack fails without the sandbox, too. */
  readonly vacuous: string;
}

/** The program printed what only the stage knows. */
export function tellsSecret(run: AttackRun, stage: Stage): boolean {
  return run.stdout.includes(stage.secret);
}

/** The program says that it worked, for things that leave no trace outside. */
export function saysGot(run: AttackRun): boolean {
  return /^got$/m.test(run.stdout);
}
