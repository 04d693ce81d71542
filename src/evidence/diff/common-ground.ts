import { parseEndpoint } from '../claims/endpoint.ts';
import type { Facet, Group } from './difference.ts';
import { Ledger, type LedgerLine, BASELINE, BOTH } from './ledger.ts';
import { toGeneralForm } from './places.ts';
import type { Side } from './side.ts';

/** What two bundles can be compared on, and what not. */
export interface CommonGround {
  readonly ledger: Ledger;
  readonly isWhole: boolean;
  /** In words, each without a full stop. */
  readonly notCompared: readonly string[];
}

const COMPARABLE: ReadonlySet<Group> = new Set(['files', 'programs', 'network', 'degradations']);
const WRITING: ReadonlySet<string> = new Set(['write', 'created', 'modified', 'removed', 'unlink']);
/** Bundles of the same kind say the same things. Otherwise only what both say is left: that something was touched. */
export function findCommonGround(ledger: Ledger, baseline: Side, candidate: Side): CommonGround {
  if (baseline.kind === candidate.kind) return { ledger, isWhole: true, notCompared: [] };
  const olderSide = baseline.kind === 'upstream' ? BASELINE : 2;
  const missing = findMissing(ledger, olderSide);
  const hasOps = !(baseline.kind === 'upstream' ? baseline : candidate).types.has(
    'assay.fs.access',
  );
  const common = new Ledger();
  for (const line of ledger.lines()) {
    if (!COMPARABLE.has(line.group) || missing.has(line.group)) continue;
    const reduced = reduceLine(line, { isOlder: (line.sides & olderSide) !== 0, hasOps });
    if (reduced) common.add(line.sides, line.group, reduced.subject, reduced.facet);
  }
  const older = olderSide === BASELINE ? 'baseline' : 'candidate';
  return {
    ledger: common,
    isWhole: false,
    notCompared: [
      `outcomes, programs and targets of operations, refusals, net changes, layers, limits, the environment, coverage, the policy and the end: the ${older} is of the older format, which does not have them`,
      ...[...missing].map(
        (group) => `${group}: the ${older} has none, and does not say whether anybody looked`,
      ),
    ],
  };
}

/** Groups of which the older bundle holds nothing at all. */
function findMissing(ledger: Ledger, olderSide: number): ReadonlySet<Group> {
  const missing = new Set<Group>(['files', 'programs', 'network']);
  for (const { group, sides } of ledger.lines())
    if ((sides & olderSide) !== 0) missing.delete(group);
  return missing;
}

function reduceLine(
  { group, subject, facet, sides }: LedgerLine,
  { isOlder, hasOps }: { isOlder: boolean; hasOps: boolean },
): { subject: string; facet: Facet } | undefined {
  const op = facet['op'] ?? '';
  const path = isOlder && sides !== BOTH ? toGeneralForm(subject) : subject;
  switch (group) {
    case 'files':
      return { subject: path, facet: { op: hasOps ? classOf(op) : 'access' } };
    case 'programs':
      return op === 'run' || op === 'exec' ? { subject: path, facet: { op: 'run' } } : undefined;
    case 'network':
      return op === 'connect' ? { subject: toHost(subject), facet: { op } } : undefined;
    default:
      return { subject, facet };
  }
}

function classOf(op: string): string {
  if (op === 'read') return 'read';
  return WRITING.has(op) ? 'write' : op;
}

/** The older format has no protocol, and not always a port. */
function toHost(endpoint: string): string {
  const { family, host } = parseEndpoint(endpoint);
  return family === 'unix' ? endpoint : host;
}
