import type { BundleEvent, BundleManifest } from '../bundle/bundle.ts';
import type { ChangeData, LineData } from '../bundle/event-data.ts';
import { type Fact, toFact } from '../bundle/facts.ts';
import { isAddress, parseEndpoint } from './endpoint.ts';
import type { EventSource } from './event-source.ts';
import { fileNameOf } from './file-name.ts';
import { toJsonLine } from './json-line.ts';
import { makeDevice, makeRecord, type OcsfPart } from './ocsf-record.ts';

/** One record for each event of the bundle, a line each. */
export function* exportOcsf({ manifest, events }: EventSource): Iterable<string> {
  for (const event of events()) yield toJsonLine(toOcsf(event, manifest));
}

/** By operation: the number of the activity. What is not here is known by its name. */
const FILE_ACTIVITIES: Readonly<Record<string, number>> = {
  create: 1,
  mkdir: 1,
  mknod: 1,
  symlink: 1,
  link: 1,
  read: 2,
  write: 3,
  truncate: 3,
  unlink: 4,
  rmdir: 4,
  rename: 5,
  utimes: 6,
  xattr: 6,
  chmod: 7,
  chown: 7,
};
const CHANGE_ACTIVITIES = { created: 1, modified: 3, removed: 4, attributes: 6 } as const;
const FILE_TYPES: Readonly<Record<string, number>> = { create: 1, mkdir: 2, rmdir: 2, symlink: 7 };
const FOLDER = 2;
/** What is named by them is a host. The older format has no protocol. */
const HOST_PROTOCOLS: ReadonlySet<string> = new Set(['', 'tcp', 'udp', 'dns']);
const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = { tcp: 6, udp: 17 };

function toOcsf(event: BundleEvent, manifest: BundleManifest): OcsfPart {
  const fact = toFact(event);
  switch (fact.kind) {
    case 'file':
    case 'folded':
      return fact.op === 'exec' && fact.outcome !== 'ok'
        ? makeLaunch(fact, event, manifest)
        : makeFileRecord(fact, event, manifest);
    case 'program':
      return makeLaunch(fact, event, manifest);
    case 'network':
      return makeNetworkRecord(fact, event, manifest);
    case 'change':
      return makeChangeRecord(fact, event, manifest);
    case 'limit':
      return makeFinding(event, manifest, {
        title: `Limit reached: ${fact.path}`,
        severity: 3,
        isDenied: true,
      });
    case 'degradation':
      return makeFinding(event, manifest, {
        title: `Not enforced: ${fact.rule}: ${fact.reason}`,
        severity: 4,
        isDenied: false,
      });
    case 'policy':
      return makeConfiguration(event, manifest, `Policy in force: ${fact.name}`);
    case 'environment':
      return makeConfiguration(event, manifest, 'Environment of the run, by name');
    case 'coverage':
      return makeConfiguration(event, manifest, 'What was watched');
    default:
      return makeOther(event, manifest);
  }
}

function makeOther(event: BundleEvent, manifest: BundleManifest): OcsfPart {
  if (event.type === 'assay.sandbox.layers')
    return makeConfiguration(event, manifest, 'Layers of the boundary');
  return makeRecord(
    {
      event,
      manifest,
      class: 'base',
      activity: event.type,
      message: event.type,
      unmapped: event.data,
    },
    {},
  );
}

function makeFileRecord(
  fact: LineData & { readonly kind: Fact['kind'] },
  event: BundleEvent,
  manifest: BundleManifest,
): OcsfPart {
  const { path, target, outcome, program, kind } = fact;
  const op = fact.op.replace(/^overflow /, '');
  const isFolder = kind === 'folded' || path.endsWith('/');
  const file = makeFile(path, isFolder ? FOLDER : (FILE_TYPES[op] ?? 0), fact.digest);
  return makeRecord(
    {
      ...controlled(fact, manifest),
      event,
      manifest,
      class: 'file',
      activity: FILE_ACTIVITIES[op] ?? op,
      message: kind === 'folded' ? `${op} in ${path}, many files` : `${op} ${path}`,
      outcome,
      ...(target !== undefined && op !== 'rename' && { unmapped: { target } }),
    },
    {
      actor: makeActor(program, event),
      device: makeDevice(event),
      file,
      ...(op === 'rename' && target !== undefined && { file_result: makeFile(target, 0) }),
      ...makeControl(fact, manifest),
    },
  );
}

function makeChangeRecord(
  { change, path }: ChangeData,
  event: BundleEvent,
  manifest: BundleManifest,
): OcsfPart {
  return makeRecord(
    {
      event,
      manifest,
      class: 'file',
      activity: CHANGE_ACTIVITIES[change],
      message: `${change} in the end: ${path}`,
      outcome: 'ok',
    },
    {
      // The outcome of all of it, whichever program had a part in it.
      actor: { app_name: 'sandboxed command' },
      device: makeDevice(event),
      file: makeFile(path, path.endsWith('/') ? FOLDER : 0),
    },
  );
}

function makeLaunch(fact: LineData, event: BundleEvent, manifest: BundleManifest): OcsfPart {
  const { path, target, outcome, program, digest } = fact;
  const process = makeProcess(path, event, digest);
  return makeRecord(
    {
      ...controlled(fact, manifest),
      event,
      manifest,
      class: 'process',
      activity: 1,
      message: `run ${path}`,
      outcome,
      ...(target !== undefined && { unmapped: { script: target } }),
    },
    {
      actor: makeActor(program, event),
      device: makeDevice(event),
      process: { ...process, parent_process: makeProcess(program, event) },
      ...makeControl(fact, manifest),
    },
  );
}

function makeNetworkRecord(fact: LineData, event: BundleEvent, manifest: BundleManifest): OcsfPart {
  const { op, path, outcome, program } = fact;
  const { protocol, host, port } = parseEndpoint(path);
  const isBind = op === 'bind';
  const isRefused = fact.refused_by !== undefined && outcome !== 'ok';
  const endpoint = {
    ...(isAddress(host)
      ? { ip: host }
      : HOST_PROTOCOLS.has(protocol)
        ? { hostname: host }
        : { name: host }),
    ...(port !== undefined && { port }),
  };
  const number = PROTOCOL_NUMBERS[protocol];
  return makeRecord(
    {
      ...controlled(fact, manifest),
      event,
      manifest,
      class: 'network',
      activity: isRefused
        ? 5
        : outcome !== 'ok' && outcome.startsWith('E')
          ? 4
          : isBind
            ? 7
            : op === 'resolve'
              ? 6
              : 1,
      message: `${op} ${path}`,
      outcome,
    },
    {
      actor: makeActor(program, event),
      device: makeDevice(event),
      ...(isBind ? { src_endpoint: endpoint } : { dst_endpoint: endpoint }),
      connection_info: {
        direction_id: isBind ? 1 : 2,
        direction: isBind ? 'Inbound' : 'Outbound',
        ...(protocol !== '' && { protocol_name: protocol }),
        ...(number !== undefined && { protocol_num: number }),
      },
      ...makeControl(fact, manifest),
    },
  );
}

interface FindingInput {
  readonly title: string;
  readonly severity: 3 | 4;
  readonly isDenied: boolean;
}

function makeFinding(
  event: BundleEvent,
  manifest: BundleManifest,
  { title, severity, isDenied }: FindingInput,
): OcsfPart {
  return makeRecord(
    {
      event,
      manifest,
      class: 'finding',
      activity: 1,
      severity,
      message: title,
      unmapped: event.data,
      profiles: ['security_control'],
    },
    {
      finding_info: { uid: event.id, title },
      device: makeDevice(event),
      is_alert: true,
      status_id: 1,
      status: 'New',
      ...(isDenied
        ? DENIED
        : { action_id: 1, disposition_id: 16, action: 'Allowed', disposition: 'No Action' }),
    },
  );
}

function makeConfiguration(
  event: BundleEvent,
  manifest: BundleManifest,
  message: string,
): OcsfPart {
  return makeRecord(
    { event, manifest, class: 'configuration', activity: 1, message, unmapped: event.data },
    { device: makeDevice(event), actor: { app_name: 'assay' }, state_id: 2, state: 'Enabled' },
  );
}

function makeFile(path: string, type: number, digest?: string): OcsfPart {
  return {
    name: fileNameOf(path),
    path,
    type_id: type,
    ...(digest !== undefined && {
      hashes: [{ algorithm_id: 3, algorithm: 'SHA-256', value: digest.replace(/^sha256:/, '') }],
    }),
  };
}

/** Programs are known by their image, not by a number: those of two equal runs are the same. */
function makeProcess(image: string, event: BundleEvent, digest?: string): OcsfPart {
  return {
    uid: `${event.assayrunid}:${image}`,
    name: fileNameOf(image),
    file: makeFile(image, 1, digest),
  };
}

function makeActor(program: string, event: BundleEvent): OcsfPart {
  return program === 'unknown'
    ? { app_name: 'sandboxed command' }
    : { process: makeProcess(program, event) };
}

const ALLOWED = { action_id: 1, action: 'Allowed', disposition_id: 1, disposition: 'Allowed' };
const DENIED = { action_id: 2, action: 'Denied', disposition_id: 2, disposition: 'Blocked' };
/** A dry run lets through what the policy would refuse. */
const OBSERVED = { action_id: 3, action: 'Observed', disposition_id: 15, disposition: 'Detected' };

/** Only of runs that had a boundary. */
function controlled(
  { refused_by }: LineData,
  { sandbox }: BundleManifest,
): { severity?: 3; profiles?: readonly string[] } {
  return {
    ...(refused_by !== undefined && { severity: 3 }),
    ...(sandbox && { profiles: ['security_control'] }),
  };
}

function makeControl({ refused_by, outcome }: LineData, { sandbox }: BundleManifest): OcsfPart {
  if (!sandbox) return {};
  const { name, digest } = sandbox.policy;
  if (refused_by === undefined) return ALLOWED;
  return {
    ...(outcome === 'ok' ? OBSERVED : DENIED),
    is_alert: true,
    policy: { name, uid: digest, desc: refused_by || 'nothing allows it' },
    status_detail: refused_by || 'nothing allows it',
  };
}
