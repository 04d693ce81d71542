/*
 * What the Open Cybersecurity Schema Framework 1.8 requires of the classes and objects that are written here: facts of
 * github.com/ocsf/ocsf-schema, from events/{base_event,system/file_activity,system/process_activity,
 * network/network_activity,findings/detection_finding,discovery/device_config_state_change}.json, includes/
 * {classification,occurrence}.json, profiles/security_control.json, objects/*.json and dictionary.json.
 */

interface ObjectRule {
  readonly required: readonly string[];
  readonly atLeastOne?: readonly string[];
  /** Every attribute that is used here, with its type: that of JSON, or the name of an object. */
  readonly attributes: Readonly<Record<string, string>>;
}

interface ClassRule extends ObjectRule {
  readonly category: number;
  readonly activities: readonly number[];
}

const ENTITY = { name: 'string', uid: 'string' };

const OBJECTS: Readonly<Record<string, ObjectRule>> = {
  metadata: {
    required: ['product', 'version'],
    attributes: {
      version: 'string',
      uid: 'string',
      correlation_uid: 'string',
      sequence: 'integer',
      event_code: 'string',
      original_time: 'string',
      product: 'product',
      profiles: 'string[]',
    },
  },
  product: {
    required: ['name', 'vendor_name'],
    attributes: { name: 'string', vendor_name: 'string', version: 'string' },
  },
  device: {
    required: ['type_id'],
    atLeastOne: ['ip', 'uid', 'name', 'hostname', 'instance_uid', 'interface_uid'],
    attributes: { ...ENTITY, type_id: 'integer', type: 'string' },
  },
  actor: {
    required: [],
    atLeastOne: ['process', 'user', 'invoked_by', 'session', 'app_name', 'app_uid'],
    attributes: { process: 'process', app_name: 'string' },
  },
  process: {
    required: [],
    atLeastOne: ['pid', 'uid', 'cpid'],
    attributes: { ...ENTITY, file: 'file', parent_process: 'process' },
  },
  file: {
    required: ['name', 'type_id'],
    attributes: { name: 'string', path: 'string', type_id: 'integer', hashes: 'fingerprint[]' },
  },
  fingerprint: {
    required: ['algorithm_id', 'value'],
    attributes: { algorithm_id: 'integer', algorithm: 'string', value: 'string' },
  },
  network_endpoint: {
    required: [],
    atLeastOne: ['ip', 'uid', 'name', 'hostname', 'svc_name', 'instance_uid', 'interface_uid'],
    attributes: { ip: 'string', name: 'string', hostname: 'string', port: 'integer' },
  },
  network_connection_info: {
    required: ['direction_id'],
    attributes: {
      direction_id: 'integer',
      direction: 'string',
      protocol_name: 'string',
      protocol_num: 'integer',
    },
  },
  policy: {
    required: [],
    atLeastOne: ['name', 'uid'],
    attributes: { ...ENTITY, desc: 'string' },
  },
  finding_info: { required: ['uid'], attributes: { uid: 'string', title: 'string' } },
};

const BASE_REQUIRED = [
  'activity_id',
  'category_uid',
  'class_uid',
  'type_uid',
  'severity_id',
  'time',
  'metadata',
];
const BASE = {
  activity_id: 'integer',
  activity_name: 'string',
  category_uid: 'integer',
  category_name: 'string',
  class_uid: 'integer',
  class_name: 'string',
  type_uid: 'integer',
  type_name: 'string',
  severity_id: 'integer',
  severity: 'string',
  time: 'integer',
  message: 'string',
  status_id: 'integer',
  status: 'string',
  status_code: 'string',
  status_detail: 'string',
  metadata: 'metadata',
  unmapped: 'object',
};
const CONTROL = {
  action_id: 'integer',
  action: 'string',
  disposition_id: 'integer',
  disposition: 'string',
  is_alert: 'boolean',
  policy: 'policy',
};

const CLASSES: Readonly<Record<number, ClassRule>> = {
  0: { category: 0, activities: [], required: BASE_REQUIRED, attributes: BASE },
  1001: {
    category: 1,
    activities: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    required: [...BASE_REQUIRED, 'actor', 'device', 'file'],
    attributes: {
      ...BASE,
      ...CONTROL,
      actor: 'actor',
      device: 'device',
      file: 'file',
      file_result: 'file',
    },
  },
  1007: {
    category: 1,
    activities: [1, 2, 3, 4, 5],
    required: [...BASE_REQUIRED, 'actor', 'device', 'process'],
    attributes: { ...BASE, ...CONTROL, actor: 'actor', device: 'device', process: 'process' },
  },
  2004: {
    category: 2,
    activities: [1, 2, 3],
    required: [...BASE_REQUIRED, 'finding_info'],
    attributes: { ...BASE, ...CONTROL, finding_info: 'finding_info', device: 'device' },
  },
  4001: {
    category: 4,
    activities: [1, 2, 3, 4, 5, 6, 7],
    required: BASE_REQUIRED,
    atLeastOne: ['dst_endpoint', 'src_endpoint'],
    attributes: {
      ...BASE,
      ...CONTROL,
      actor: 'actor',
      device: 'device',
      connection_info: 'network_connection_info',
      dst_endpoint: 'network_endpoint',
      src_endpoint: 'network_endpoint',
    },
  },
  5019: {
    category: 5,
    activities: [1, 2],
    required: [...BASE_REQUIRED, 'device'],
    attributes: {
      ...BASE,
      actor: 'actor',
      device: 'device',
      state_id: 'integer',
      state: 'string',
    },
  },
};

const ENUMS: Readonly<Record<string, readonly number[]>> = {
  severity_id: [0, 1, 2, 3, 4, 5, 6, 99],
  action_id: [0, 1, 2, 3, 4, 99],
  disposition_id: [...Array.from({ length: 28 }, (_, id) => id), 99],
  direction_id: [0, 1, 2, 3, 99],
  algorithm_id: [0, 1, 2, 3, 4, 5, 6, 7, 99],
  state_id: [0, 1, 2, 99],
};

/** What is wrong with a record; empty when nothing is. */
export function findOcsfProblems(record: Readonly<Record<string, unknown>>): string[] {
  const { class_uid, category_uid, activity_id, type_uid, time, metadata } = record;
  const rule = CLASSES[Number(class_uid)];
  if (!rule) return [`class_uid ${String(class_uid)} is unknown`];
  const problems = checkObject(record, rule, `class ${String(class_uid)}`);
  const activity = Number(activity_id);
  if (![0, 99, ...rule.activities].includes(activity)) problems.push(`activity_id ${activity}`);
  if (category_uid !== rule.category) problems.push(`category_uid ${String(category_uid)}`);
  if (type_uid !== Number(class_uid) * 100 + activity)
    problems.push(`type_uid ${String(type_uid)}`);
  if (Number(time) < 1e12 || Number(time) > 1e13) problems.push('time is not in milliseconds');
  const { profiles = [] } = metadata as { profiles?: string[] };
  const isControlled = profiles.includes('security_control');
  if (Object.hasOwn(record, 'action_id') !== isControlled)
    problems.push('action_id and the profile security_control do not go together');
  return problems;
}

function checkObject(
  value: Readonly<Record<string, unknown>>,
  { required, atLeastOne, attributes }: ObjectRule,
  at: string,
): string[] {
  const problems = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${at}.${name} is missing`);
  if (atLeastOne && !atLeastOne.some((name) => Object.hasOwn(value, name)))
    problems.push(`${at} has none of ${atLeastOne.join(', ')}`);
  for (const [name, member] of Object.entries(value)) {
    const type = attributes[name];
    if (type === undefined) problems.push(`${at}.${name} is unknown`);
    else problems.push(...checkValue(member, type, `${at}.${name}`));
    const choices = ENUMS[name];
    if (choices && !choices.includes(member as number))
      problems.push(`${at}.${name} is ${String(member)}`);
  }
  return problems;
}

function checkValue(value: unknown, type: string, at: string): string[] {
  if (type.endsWith('[]'))
    return Array.isArray(value)
      ? value.flatMap((item) => checkValue(item, type.slice(0, -2), at))
      : [`${at} is not a list`];
  if (type === 'integer') return Number.isSafeInteger(value) ? [] : [`${at} is not an integer`];
  if (type === 'object' || type === 'string' || type === 'boolean')
    return typeof value === type && value !== null ? [] : [`${at} is not of type ${type}`];
  const rule = OBJECTS[type];
  if (!rule || typeof value !== 'object' || value === null) return [`${at} is not a ${type}`];
  return checkObject(value as Record<string, unknown>, rule, at);
}
