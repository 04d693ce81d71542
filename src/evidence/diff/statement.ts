import type { BundleEvent } from '../bundle/bundle.ts';
import { type EndData, EVENT_TYPES } from '../bundle/event-data.ts';
import { isRecord } from '../bundle/shape.ts';
import type { RunStatement } from './difference.ts';

type Members = Readonly<Record<string, unknown>>;

/** Coverage as the older format claims it, by the names of ours. */
const CLAIMED_SURFACES: Readonly<Record<string, string>> = { commands: 'programs' };

/**
 * Takes what an event says about the run as a whole. False when it says nothing of the kind: the older format may have
 * any data under any type, so each part is looked at.
 */
export function readStatement({ type, data }: BundleEvent, into: RunStatement): boolean {
  if (!isRecord(data)) return false;
  switch (type) {
    case EVENT_TYPES.started:
      return readStart(data, into);
    case EVENT_TYPES.policy:
      return readPolicy(data, into);
    case EVENT_TYPES.environment:
      into.environment = { passed: textsOf(data['passed']), removed: textsOf(data['removed']) };
      return true;
    case EVENT_TYPES.layers:
      return readLayers(data['layers'], into);
    case EVENT_TYPES.coverage:
      return readCoverage(data['surfaces'], into);
    case EVENT_TYPES.summary:
    case EVENT_TYPES.finished:
      return readEnd(data, into);
    case EVENT_TYPES.codingAgent:
      return readClaims(data['coverage'], into);
    default:
      return false;
  }
}

function readStart({ command, network, mode, level }: Members, into: RunStatement): boolean {
  if (Array.isArray(command)) into.command = textsOf(command);
  if (typeof network === 'string') into.network = network;
  if (typeof mode === 'string') into.mode = mode;
  if (typeof level === 'string') into.level = level;
  return true;
}

function readPolicy({ name, digest, policy, toolchain }: Members, into: RunStatement): boolean {
  if (typeof name !== 'string' || typeof digest !== 'string') return false;
  into.policy = { name, digest, policy, toolchain: textsOf(toolchain) };
  return true;
}

function readLayers(layers: unknown, into: RunStatement): boolean {
  if (!Array.isArray(layers)) return false;
  for (const one of layers) {
    const { layer, status, reason } = isRecord(one) ? one : {};
    into.layers.set(textOf(layer), { status: textOf(status), reason: textOf(reason) });
  }
  return true;
}

function readCoverage(surfaces: unknown, into: RunStatement): boolean {
  if (!isRecord(surfaces)) return false;
  for (const [surface, one] of Object.entries(surfaces)) {
    const { status, reasons } = isRecord(one) ? one : {};
    into.coverage.set(surface, { status: textOf(status), reasons: textsOf(reasons) });
  }
  return true;
}

/** Only where nothing better is said: ours has an event for it. */
function readClaims(coverage: unknown, into: RunStatement): boolean {
  if (!isRecord(coverage)) return false;
  if (into.coverage.size > 0) return true;
  for (const [claimed, status] of Object.entries(coverage))
    into.coverage.set(CLAIMED_SURFACES[claimed] ?? claimed, {
      status: textOf(status),
      reasons: [],
    });
  return true;
}

function readEnd({ command, end }: Members, into: RunStatement): boolean {
  if (Array.isArray(command)) into.command ??= textsOf(command);
  if (isRecord(end)) into.end = end as unknown as EndData;
  return true;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
