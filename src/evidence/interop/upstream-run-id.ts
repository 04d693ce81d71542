import { sha256Hex } from '../../core/digest.ts';

/** What the older format makes its run id of. */
export interface UpstreamRun {
  readonly command: readonly string[];
  readonly counters?: Readonly<Record<string, number>>;
  readonly notes?: readonly string[];
  /** By name, how often. */
  readonly execs?: Readonly<Record<string, number>>;
  /** Operation, path, and who saw it. */
  readonly fs?: readonly (readonly [op: string, path: string, backend: string])[];
  readonly degradations?: readonly UpstreamDegradation[];
}

export interface UpstreamDegradation {
  readonly reason_code: string;
  readonly degradation_mode: string;
  readonly component: string;
  readonly detail?: string | undefined;
}

/** In this order, not by name. */
const OPERATIONS = ['read', 'write', 'exec'];
const BACKENDS = ['injected', 'landlock', 'ptrace', 'ebpf'];

/** Parts follow one another without anything in between, so that different runs may have the same id. */
export function computeUpstreamRunId(run: UpstreamRun): string {
  const { command, counters = {}, notes = [], execs = {}, fs = [], degradations = [] } = run;
  const parts = [
    command.join('\0'),
    ...listPairs(counters),
    ...notes,
    ...listPairs(execs),
    ...fs.toSorted(compareAccess).flat(),
    ...degradations.toSorted(compareDegradations).map(writeDegradation),
  ];
  return `sandbox_${sha256Hex(parts.join('')).slice(0, 16)}`;
}

function listPairs(counts: Readonly<Record<string, number>>): string[] {
  const sorted = Object.entries(counts).sort(([a], [b]) => compare(a, b));
  return sorted.flatMap(([name, count]) => [name, String(count)]);
}

type Access = readonly [op: string, path: string, backend: string];

function compareAccess(a: Access, b: Access): number {
  return (
    OPERATIONS.indexOf(a[0]) - OPERATIONS.indexOf(b[0]) ||
    compare(a[1], b[1]) ||
    BACKENDS.indexOf(a[2]) - BACKENDS.indexOf(b[2])
  );
}

function compareDegradations(a: UpstreamDegradation, b: UpstreamDegradation): number {
  return (
    compare(a.reason_code, b.reason_code) ||
    compare(a.degradation_mode, b.degradation_mode) ||
    compare(a.component, b.component) ||
    compare(a.detail ?? '', b.detail ?? '')
  );
}

function writeDegradation(one: UpstreamDegradation): string {
  const { reason_code, degradation_mode, component, detail } = one;
  return JSON.stringify({ reason_code, degradation_mode, component, detail });
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
