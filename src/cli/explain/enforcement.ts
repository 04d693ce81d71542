import { isAtOrBelow } from '../../plan/file-tree.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { Layer } from '../../plan/plan.ts';
import { findConflicts } from '../../policy/conflicts.ts';
import type { FsRule, Policy } from '../../policy/policy.ts';
import type { RefusedOp } from '../../policy/suggest-flag.ts';

/** A layer that has a say, and what it does. */
export interface Enforcement {
  readonly layer: Layer;
  readonly how: string;
}

export interface EnforcementQuery {
  readonly op: RefusedOp;
  /** With links resolved. */
  readonly path: string;
  readonly outcome: 'allow' | 'deny';
  readonly rule: FsRule | undefined;
  readonly policy: Policy;
  readonly plan: Plan;
}

/** Landlock rights that stand for each operation: read_file and read_dir, write_file, execute. */
const LANDLOCK_BITS = { read: 0b1100, write: 0b10, exec: 0b1 } as const;

function findLandlockGrant({ op, path, plan }: EnforcementQuery): string | undefined {
  if (op === 'connect') return undefined;
  const wanted = LANDLOCK_BITS[op];
  return plan.launch.landlock?.rules
    .filter(({ access }) => (access & wanted) !== 0)
    .flatMap(({ paths }) => paths)
    .find((granted) => isAtOrBelow(path, granted));
}

function askLandlock(query: EnforcementQuery): Enforcement[] {
  // Landlock has no say about sockets that have a path.
  if (!query.plan.launch.landlock || query.op === 'connect') return [];
  const grant = findLandlockGrant(query);
  if (query.outcome === 'allow')
    return grant === undefined ? [] : [{ layer: 'landlock', how: `granted at ${grant}` }];
  return grant === undefined ? [{ layer: 'landlock', how: 'not granted' }] : [];
}

/** How a path looks in the private mount namespace. */
interface Sight {
  readonly kind: 'as outside' | 'read-only' | 'writable' | 'hidden' | 'masked' | 'private';
  readonly canExec: boolean;
}

export function seePath(plan: Plan, path: string): Sight {
  const { launch } = plan;
  let sight: Sight = {
    kind: launch.flags.isRootReadOnly ? 'read-only' : 'as outside',
    canExec: true,
  };
  for (const op of launch.mounts) {
    if (
      !('path' in op) ||
      op.kind === 'symlink' ||
      op.kind === 'directory' ||
      !isAtOrBelow(path, op.path)
    )
      continue;
    if (op.kind === 'hide') sight = { kind: 'hidden', canExec: false };
    else if (op.kind === 'file') sight = { kind: 'read-only', canExec: false };
    else if (op.kind === 'mask') sight = { kind: 'masked', canExec: false };
    else if (op.kind === 'tmpfs' || op.source !== op.path)
      sight = { kind: 'private', canExec: true };
    else sight = { kind: op.isWritable ? 'writable' : 'read-only', canExec: op.canExec };
  }
  return sight;
}

function askMount({ op, path, outcome, plan }: EnforcementQuery): Enforcement[] {
  if (!plan.launch.namespaces.includes('mount')) return [];
  const { kind, canExec } = seePath(plan, path);
  if (kind === 'private') return [{ layer: 'mount', how: 'replaced by a place of the run' }];
  const isOut = kind === 'hidden' || kind === 'masked';
  if (outcome === 'allow') return isOut ? [] : [{ layer: 'mount', how: `visible, ${kind}` }];
  if (isOut) return [{ layer: 'mount', how: kind }];
  if (op === 'write' && kind === 'read-only') return [{ layer: 'mount', how: 'read-only' }];
  return op === 'exec' && !canExec ? [{ layer: 'mount', how: 'not executable' }] : [];
}

/** Which operations pass through the broker under this policy; the others are left to the kernel. */
function isBrokered({ op, policy, plan }: EnforcementQuery): boolean {
  if (op === 'write' || op === 'connect') return true;
  const isRefusedSomewhere = findConflicts(policy).some(({ deny }) => deny.rights.includes(op));
  return isRefusedSomewhere || (op === 'read' && plan.launch.flags.isAllowListKept === true);
}

function askBroker(query: EnforcementQuery): Enforcement[] {
  const { op, outcome, rule, plan } = query;
  if (!plan.launch.flags.isNotified || !isBrokered(query)) return [];
  if (outcome === 'allow') return [{ layer: 'broker', how: 'performed by the broker' }];
  if (rule) return [{ layer: 'broker', how: 'refused by the rule' }];
  const isKept = op === 'connect' || plan.launch.flags.isAllowListKept === true;
  return isKept ? [{ layer: 'broker', how: 'refused: no rule allows it' }] : [];
}

function askSeccomp({ op, plan }: EnforcementQuery): Enforcement[] {
  const isAlone = op === 'connect' && plan.launch.filter !== null && !plan.launch.flags.isNotified;
  return isAlone ? [{ layer: 'seccomp', how: 'no unix sockets but pairs' }] : [];
}

/** Every layer that keeps the decision on this host; none for a refusal means that nothing does. */
export function findEnforcement(query: EnforcementQuery): Enforcement[] {
  return [...askLandlock(query), ...askMount(query), ...askBroker(query), ...askSeccomp(query)];
}
