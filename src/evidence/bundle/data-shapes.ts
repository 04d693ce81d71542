import type { BundleEvent } from './bundle.ts';
import { EVENT_TYPES, typeOfOperation } from './event-data.ts';
import { END } from './manifest-check.ts';
import {
  findShapeProblem,
  isArrayOf,
  isBoolean,
  isCount,
  isHash,
  isRecord,
  isString,
  optional,
  type Shape,
} from './shape.ts';

const LINE: Shape = {
  op: isString,
  path: isString,
  target: optional(isString),
  outcome: isString,
  program: isString,
  refused_by: optional(isString),
  digest: optional(isString),
  basis: optional(isString),
};

function hasShape(shape: Shape): (value: unknown) => boolean {
  return (value) => findShapeProblem(value, shape) === undefined;
}

function lineOf(type: string): Shape {
  return { ...LINE, op: (value) => isString(value) && typeOfOperation(value) === type };
}

const LAYER: Shape = { layer: isString, status: isString, reason: isString };
const SURFACE: Shape = { status: isString, reasons: isArrayOf(isString) };

/** By type: what a reader may count on. Other members may be there. */
const SHAPES: Readonly<Record<string, Shape>> = {
  [EVENT_TYPES.started]: {
    command: isArrayOf(isString),
    mode: isString,
    level: isString,
    network: isString,
    version: isString,
    run_digest: isHash,
    identity: isHash,
  },
  [EVENT_TYPES.policy]: {
    name: isString,
    default: isBoolean,
    digest: isHash,
    policy: isRecord,
    toolchain: optional(isArrayOf(isString)),
  },
  [EVENT_TYPES.environment]: { passed: isArrayOf(isString), removed: isArrayOf(isString) },
  [EVENT_TYPES.layers]: { layers: isArrayOf(hasShape(LAYER)) },
  [EVENT_TYPES.degraded]: {
    reason_code: isString,
    degradation_mode: isString,
    component: isString,
    detail: optional(isString),
  },
  [EVENT_TYPES.fs]: {
    ...lineOf(EVENT_TYPES.fs),
    backend: isString,
    system: optional((value) => value === true),
  },
  [EVENT_TYPES.exec]: { ...lineOf(EVENT_TYPES.exec), argv0: isString },
  [EVENT_TYPES.net]: lineOf(EVENT_TYPES.net),
  [EVENT_TYPES.limit]: lineOf(EVENT_TYPES.limit),
  [EVENT_TYPES.folded]: lineOf(EVENT_TYPES.folded),
  [EVENT_TYPES.change]: { change: isString, path: isString },
  [EVENT_TYPES.coverage]: {
    surfaces: (value) => isRecord(value) && Object.values(value).every(hasShape(SURFACE)),
  },
  [EVENT_TYPES.summary]: {
    command: isArrayOf(isString),
    fs_count: isCount,
    exec_count: isCount,
    net_count: isCount,
    refusal_count: isCount,
    degradation_count: isCount,
    statements: isArrayOf(isString),
    end: hasShape(END),
  },
  [EVENT_TYPES.codingAgent]: {},
  [EVENT_TYPES.finished]: { end: hasShape(END) },
};

/** The first member of `data` that is not what the type of the event promises, in words. */
export function findDataProblem({
  type,
  data,
}: Pick<BundleEvent, 'type' | 'data'>): string | undefined {
  const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined;
  return shape && findShapeProblem(data, shape);
}
