import { type Comparison, isAboutRun } from './compare.ts';
import { KINDS, type Kind } from './difference.ts';

/** `any` is for every difference that is about the run. */
export type GateKind = Kind | 'any';

export interface Gate {
  readonly failOn: readonly GateKind[];
  /** Those that appear, and how often. */
  readonly failed: readonly { readonly kind: GateKind; readonly count: number }[];
  /** Why that nothing appears does not mean that nothing happened. */
  readonly warnings: readonly string[];
}

export const GATE_KINDS: readonly GateKind[] = [...(Object.keys(KINDS) as Kind[]), 'any'];

/** What has to be watched completely for the absence of a kind to mean something. */
const SURFACES: Readonly<Partial<Record<GateKind, readonly string[]>>> = {
  'new-host': ['network'],
  'new-endpoint': ['network'],
  'new-write-outside': ['changes'],
  'new-write-config': ['changes'],
  'new-program': ['programs'],
  'changed-program': ['programs'],
  'new-denial': ['reads', 'changes', 'programs', 'network'],
  'new-environment': ['environment'],
  any: ['reads', 'changes', 'programs', 'network', 'environment'],
};

export function applyGate(comparison: Comparison, failOn: readonly GateKind[]): Gate {
  const { counts, differences } = comparison;
  const unique = GATE_KINDS.filter((kind) => failOn.includes(kind));
  const failed = unique.flatMap((kind) => {
    const count = kind === 'any' ? differences.filter(isAboutRun).length : (counts[kind] ?? 0);
    return count > 0 ? [{ kind, count }] : [];
  });
  return { failOn: unique, failed, warnings: findWarnings(comparison, unique) };
}

function findWarnings({ candidate }: Comparison, failOn: readonly GateKind[]): string[] {
  const wanted = new Set(failOn.flatMap((kind) => SURFACES[kind] ?? []));
  if (candidate.kind === 'upstream')
    return wanted.size === 0 ? [] : ['the candidate does not establish what was watched'];
  const { coverage } = candidate.statement;
  return [...wanted].flatMap((surface) => {
    const status = coverage.get(surface)?.status ?? 'absent';
    if (status === 'complete') return [];
    // Whoever wrote the bundle may have written anything here.
    const shown = status === 'partial' || status === 'absent' ? status : 'not known';
    return [`the coverage of ${surface} is ${shown}`];
  });
}
