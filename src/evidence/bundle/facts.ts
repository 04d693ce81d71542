import type { BundleEvent } from './bundle.ts';
import {
  EVENT_TYPES,
  type ChangeData,
  type CoverageData,
  type EnvironmentData,
  type LineData,
  type PolicyData,
} from './event-data.ts';
import { findShapeProblem, isArrayOf, isBoolean, isRecord, isString, type Shape } from './shape.ts';

/** What readers of a bundle ask about, whichever kind of bundle it came from. */
export type Fact = FactBase &
  (
    | ({
        readonly kind: 'file' | 'program' | 'network' | 'limit' | 'folded';
        /** A file read in a system directory. */
        readonly system?: true | undefined;
      } & LineData)
    | ({ readonly kind: 'change' } & ChangeData)
    | ({ readonly kind: 'policy' } & PolicyData)
    | ({ readonly kind: 'environment' } & EnvironmentData)
    | ({ readonly kind: 'coverage' } & CoverageData)
    | { readonly kind: 'degradation'; readonly rule: string; readonly reason: string }
    | { readonly kind: 'other' }
  );

interface FactBase {
  readonly seq: number;
  readonly type: string;
  readonly time: string;
  readonly subject?: string | undefined;
}

/** By the type of event. Those of the older format have little more than a subject. */
const LINE_KINDS: Readonly<Record<string, 'file' | 'program' | 'network' | 'limit' | 'folded'>> = {
  [EVENT_TYPES.fs]: 'file',
  [EVENT_TYPES.exec]: 'program',
  [EVENT_TYPES.net]: 'network',
  [EVENT_TYPES.limit]: 'limit',
  [EVENT_TYPES.folded]: 'folded',
  'assay.fs.access': 'file',
  'assay.net.connect': 'network',
  'assay.process.exec': 'program',
};

const DEFAULT_OPS = {
  file: 'access',
  program: 'run',
  network: 'connect',
  limit: 'limit',
  folded: 'overflow',
};

/** What must be there for an event of this type to say anything. */
const SHAPES: Readonly<Record<string, Shape>> = {
  [EVENT_TYPES.change]: { change: isString, path: isString },
  [EVENT_TYPES.policy]: { name: isString, default: isBoolean, digest: isString },
  [EVENT_TYPES.environment]: { passed: isArrayOf(isString), removed: isArrayOf(isString) },
  [EVENT_TYPES.coverage]: { surfaces: isRecord },
};

/** What an event says, in the same terms for either format. What the older one does not say is `unknown`. */
export function toFact({ assayseq: seq, type, time, subject, data }: BundleEvent): Fact {
  const base = { seq, type, time, ...(subject === undefined ? {} : { subject }) };
  const members = isRecord(data) ? data : {};
  const kind = Object.hasOwn(LINE_KINDS, type) ? LINE_KINDS[type] : undefined;
  if (kind) return { ...base, kind, ...readLine(members, kind, subject) };
  if (type === EVENT_TYPES.degraded)
    return { ...base, kind: 'degradation', ...readDegradation(members) };
  // The older format promises nothing about events of these types.
  const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined;
  if (!shape || findShapeProblem(data, shape) !== undefined) return { ...base, kind: 'other' };
  switch (type) {
    case EVENT_TYPES.change:
      return { ...base, kind: 'change', ...readChange(members as unknown as ChangeData) };
    case EVENT_TYPES.policy:
      return { ...base, kind: 'policy', ...readPolicy(members as unknown as PolicyData) };
    case EVENT_TYPES.environment:
      return { ...base, kind: 'environment', ...readNames(members as unknown as EnvironmentData) };
    case EVENT_TYPES.coverage:
      return { ...base, kind: 'coverage', surfaces: (members as unknown as CoverageData).surfaces };
    default:
      return { ...base, kind: 'other' };
  }
}

// Member by member: others may be there, and must not take the place of what the event itself says.

function readChange({ change, path }: ChangeData): ChangeData {
  return { change, path };
}

function readPolicy(data: Omit<PolicyData, 'toolchain'> & Partial<PolicyData>): PolicyData {
  const { name, default: isDefault, digest, policy, toolchain = [] } = data;
  return { name, default: isDefault, digest, policy, toolchain };
}

function readNames({ passed, removed }: EnvironmentData): EnvironmentData {
  return { passed, removed };
}

type Members = Readonly<Record<string, unknown>>;

function readLine(
  members: Members,
  kind: keyof typeof DEFAULT_OPS,
  subject: string | undefined,
): LineData {
  const text = (...names: readonly string[]): string | undefined =>
    names.map((name) => members[name]).find((value) => typeof value === 'string');
  const target = text('target');
  const refusedBy = text('refused_by');
  const digest = text('digest');
  const basis = text('basis');
  return {
    op: text('op') ?? DEFAULT_OPS[kind],
    path: text('path', 'argv0', 'file', 'host', 'cmd') ?? subject ?? '',
    outcome: text('outcome') ?? 'unknown',
    program: text('program') ?? 'unknown',
    ...(target === undefined ? {} : { target }),
    ...(refusedBy === undefined ? {} : { refused_by: refusedBy }),
    ...(digest === undefined ? {} : { digest }),
    ...(basis === undefined ? {} : { basis }),
    ...(members['system'] === true ? { system: true as const } : {}),
  };
}

function readDegradation(members: Members): { rule: string; reason: string } {
  const { component, detail, reason_code: code } = members;
  const reason = typeof detail === 'string' ? detail : code;
  return {
    rule: typeof component === 'string' ? component : 'unknown',
    reason: typeof reason === 'string' ? reason : 'unknown',
  };
}
