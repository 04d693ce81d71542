import type { BundleEvent, BundleManifest } from '../../evidence/bundle/bundle.ts';
import {
  type ChangeData,
  type CoverageData,
  type DegradedData,
  type EnvironmentData,
  EVENT_TYPES,
  type LayersData,
  type PolicyData,
  type StartedData,
  type SummaryData,
} from '../../evidence/bundle/event-data.ts';
import { toFact } from '../../evidence/bundle/facts.ts';

export const KINDS = [
  'file',
  'program',
  'network',
  'change',
  'degradation',
  'limit',
  'folded',
  'other',
] as const;
export type Kind = (typeof KINDS)[number];

export type OutcomeClass = 'ok' | 'failed' | 'refused' | 'none';

/** One event as the page lists it. */
export interface Row {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly ms: number;
  readonly kind: Kind;
  readonly op: string;
  readonly path: string;
  readonly target: string;
  readonly outcome: string;
  readonly outcomeClass: OutcomeClass;
  readonly program: string;
  /** The rule that refused it; empty when nothing allows it; undefined when it was not refused. */
  readonly refusedBy: string | undefined;
  readonly isSystem: boolean;
  readonly event: BundleEvent;
}

/** Everything that the page shows, from events alone. */
export interface RunModel {
  /** It was not read to its end. */
  isPartial: boolean;
  manifest: BundleManifest | undefined;
  readonly rows: Row[];
  started: Partial<StartedData>;
  summary: Partial<SummaryData>;
  policy: Partial<PolicyData> | undefined;
  environment: Partial<EnvironmentData> | undefined;
  coverage: Partial<CoverageData> | undefined;
  layers: Partial<LayersData> | undefined;
  readonly degradations: Partial<DegradedData>[];
  readonly changes: Partial<ChangeData>[];
}

export function makeModel(): RunModel {
  return {
    isPartial: true,
    manifest: undefined,
    rows: [],
    started: {},
    summary: {},
    policy: undefined,
    environment: undefined,
    coverage: undefined,
    layers: undefined,
    degradations: [],
    changes: [],
  };
}

export function addEvent(model: RunModel, event: BundleEvent): void {
  model.rows.push(makeRow(event));
  const data = asObject(event.data);
  switch (event.type) {
    case EVENT_TYPES.started:
      model.started = data;
      break;
    case EVENT_TYPES.summary:
      model.summary = data;
      break;
    case EVENT_TYPES.policy:
      model.policy = data;
      break;
    case EVENT_TYPES.environment:
      model.environment = data;
      break;
    case EVENT_TYPES.coverage:
      model.coverage = data;
      break;
    case EVENT_TYPES.layers:
      model.layers = data;
      break;
    case EVENT_TYPES.degraded:
      model.degradations.push(data);
      break;
    case EVENT_TYPES.change:
      model.changes.push(data);
      break;
    default:
  }
}

function makeRow(event: BundleEvent): Row {
  const fact = toFact(event);
  const base = {
    seq: event.assayseq,
    ms: Date.parse(event.time),
    op: '',
    path: event.subject ?? '',
    target: '',
    outcome: '',
    program: '',
    refusedBy: undefined,
    isSystem: false,
    event,
  };
  switch (fact.kind) {
    case 'file':
    case 'program':
    case 'network':
    case 'limit':
    case 'folded':
      return {
        ...base,
        kind: fact.kind,
        op: asText(fact.op),
        path: asText(fact.path),
        target: asText(fact.target),
        outcome: asText(fact.outcome),
        outcomeClass: classify(fact.outcome, fact.refused_by),
        program: asText(fact.program),
        refusedBy: fact.refused_by === undefined ? undefined : asText(fact.refused_by),
        isSystem: asObject(event.data)['system'] === true,
      };
    case 'change':
      return {
        ...base,
        kind: 'change',
        op: asText(fact.change),
        path: asText(fact.path),
        outcomeClass: 'none',
      };
    case 'degradation':
      return {
        ...base,
        kind: 'degradation',
        op: 'degraded',
        path: asText(fact.rule),
        target: asText(fact.reason),
        outcomeClass: 'none',
      };
    default:
      return {
        ...base,
        kind: 'other',
        op: event.type.slice(event.type.lastIndexOf('.') + 1),
        path: event.subject ?? event.type,
        outcomeClass: 'none',
      };
  }
}

function classify(outcome: string, refusedBy: string | undefined): OutcomeClass {
  if (refusedBy !== undefined) return 'refused';
  return outcome === 'ok' || outcome === '' ? 'ok' : 'failed';
}

/** The verifier knows the envelope; what is in `data` of an older bundle is anybody's guess. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asTexts(value: unknown): readonly string[] {
  return asList(value).map(asText);
}
