import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';

/*
 * The parts that all records of the Open Cybersecurity Schema Framework share (https://schema.ocsf.io). The numbers are
 * the ones of its enumerations.
 */

const SCHEMA_VERSION = '1.8.0';

export type OcsfPart = Readonly<Record<string, unknown>>;

interface OcsfClass {
  readonly uid: number;
  readonly name: string;
  readonly category: number;
  readonly categoryName: string;
  readonly activities: Readonly<Record<number, string>>;
}

const SYSTEM = { category: 1, categoryName: 'System Activity' };

export const CLASSES = {
  base: {
    uid: 0,
    name: 'Base Event',
    category: 0,
    categoryName: 'Uncategorized',
    activities: {},
  },
  file: {
    uid: 1001,
    name: 'File System Activity',
    ...SYSTEM,
    activities: {
      1: 'Create',
      2: 'Read',
      3: 'Update',
      4: 'Delete',
      5: 'Rename',
      6: 'Set Attributes',
      7: 'Set Security',
    },
  },
  process: {
    uid: 1007,
    name: 'Process Activity',
    ...SYSTEM,
    activities: { 1: 'Launch', 2: 'Terminate' },
  },
  finding: {
    uid: 2004,
    name: 'Detection Finding',
    category: 2,
    categoryName: 'Findings',
    activities: { 1: 'Create' },
  },
  network: {
    uid: 4001,
    name: 'Network Activity',
    category: 4,
    categoryName: 'Network Activity',
    activities: { 1: 'Open', 4: 'Fail', 5: 'Refuse', 7: 'Listen' },
  },
  configuration: {
    uid: 5019,
    name: 'Device Config State Change',
    category: 5,
    categoryName: 'Discovery',
    activities: { 1: 'Log' },
  },
} as const satisfies Record<string, OcsfClass>;

const OTHER = 99;
const SEVERITIES = { 0: 'Unknown', 1: 'Informational', 3: 'Medium', 4: 'High' } as const;
const STATUSES = { 0: 'Unknown', 1: 'Success', 2: 'Failure' } as const;

export interface RecordInput {
  readonly event: BundleEvent;
  readonly manifest: BundleManifest;
  readonly class: keyof typeof CLASSES;
  /** A number of the class, or the name of something that it has no number for. */
  readonly activity: number | string;
  readonly severity?: keyof typeof SEVERITIES;
  readonly message: string;
  readonly outcome?: string | undefined;
  /** What the schema has no place for. */
  readonly unmapped?: unknown;
  readonly profiles?: readonly string[];
}

export function makeRecord(input: RecordInput, rest: OcsfPart): OcsfPart {
  const { event, manifest, activity, severity = 1, message, outcome, unmapped } = input;
  const { uid, name, category, categoryName, activities }: OcsfClass = CLASSES[input.class];
  const activityId = typeof activity === 'number' ? activity : OTHER;
  const activityName =
    typeof activity === 'number' ? (activities[activity] ?? 'Unknown') : activity;
  return {
    activity_id: activityId,
    activity_name: activityName,
    category_uid: category,
    category_name: categoryName,
    class_uid: uid,
    class_name: name,
    type_uid: uid * 100 + activityId,
    type_name: `${name}: ${activityName}`,
    severity_id: severity,
    severity: SEVERITIES[severity],
    time: Date.parse(event.time),
    message,
    ...(outcome !== undefined && describeOutcome(outcome)),
    metadata: {
      version: SCHEMA_VERSION,
      uid: event.id,
      correlation_uid: event.assayrunid,
      sequence: event.assayseq,
      event_code: event.type,
      original_time: event.time,
      product: {
        name: manifest.producer.name,
        vendor_name: manifest.producer.name,
        version: manifest.producer.version,
      },
      ...(input.profiles && { profiles: input.profiles }),
    },
    ...rest,
    ...(unmapped !== undefined && { unmapped }),
  };
}

/** Nobody says on which machine a run was: the record is the same everywhere. */
export function makeDevice(event: BundleEvent): OcsfPart {
  return { type_id: OTHER, type: 'Sandbox', name: 'sandbox', uid: event.assayrunid };
}

function describeOutcome(outcome: string): OcsfPart {
  const status = outcome === 'ok' ? 1 : /^E[A-Z0-9]+$/.test(outcome) ? 2 : 0;
  return {
    status_id: status,
    status: STATUSES[status],
    ...(status === 2 && { status_code: outcome }),
  };
}
