import { spellName } from '../../core/name-bytes.ts';
import { constants } from 'node:os';
import type { LimitName } from '../backend.ts';
import type { Denial, Outcome } from '../sandbox.ts';
import { LIMIT_NAMES } from '../spec.ts';
import type { FromCell, RunEnd } from './protocol.ts';

/** What came from a cell is taken apart and put together anew: the engine in it has run what nobody trusts. */

const MAX_DENIALS = 1000;
/** Longer than the longest path. */
const MAX_TEXT = 20_000;

class BadMessage extends Error {}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadMessage('A message from the cell is no object');
  return value as Fields;
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0) || !Number.isFinite(value))
    throw new BadMessage('A message from the cell has no number where it needs one');
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new BadMessage('A message from the cell has no text');
  return value.slice(0, MAX_TEXT);
}

function limitName(value: unknown): LimitName {
  const found = LIMIT_NAMES.find((name) => name === value);
  if (!found) throw new BadMessage('A message from the cell names a limit that there is not');
  return found;
}

function signalName(value: unknown): NodeJS.Signals {
  if (typeof value !== 'string' || !Object.hasOwn(constants.signals, value))
    throw new BadMessage('A message from the cell names a signal that there is not');
  return value as NodeJS.Signals;
}

function decodeOutcome(value: unknown): Outcome {
  const { kind, exitCode, signal, limitMs, limit, value: most } = fields(value);
  switch (kind) {
    case 'exited':
      return { kind, exitCode: count(exitCode) & 0xff };
    case 'signaled':
      return { kind, signal: signalName(signal) };
    case 'timeout':
      return { kind, limitMs: count(limitMs) };
    case 'limit':
      return { kind, limit: limitName(limit), value: count(most) };
    case 'aborted':
      return { kind };
    default:
      throw new BadMessage('A message from the cell has no such outcome');
  }
}

function decodeDenial(value: unknown): Denial {
  const { action, target } = fields(value);
  if (action !== 'fs.read' && action !== 'fs.write')
    throw new BadMessage('A message from the cell refuses what it cannot');
  const hint = 'Inside there are the given files and no others';
  return { action, target: spellName(text(target)), hint };
}

function decodeEnd(value: unknown): RunEnd {
  const { outcome, reached, truncated, cpuMs, maxMemoryBytes, diskBytes, denials } = fields(value);
  const { stdout, stderr } = fields(truncated);
  if (!Array.isArray(reached) || !Array.isArray(denials))
    throw new BadMessage('A message from the cell has no list where it needs one');
  return {
    outcome: decodeOutcome(outcome),
    reached: reached.slice(0, LIMIT_NAMES.length).map(limitName),
    truncated: { stdout: count(stdout), stderr: count(stderr) },
    cpuMs: count(cpuMs),
    maxMemoryBytes: maxMemoryBytes === undefined ? undefined : count(maxMemoryBytes),
    diskBytes: count(diskBytes),
    denials: denials.slice(0, MAX_DENIALS).map(decodeDenial),
  };
}

/** Throws when it is none. */
export function decodeMessage(value: unknown): FromCell {
  const { type, id, stream, end, reason, value: answer, errno } = fields(value);
  switch (type) {
    case 'ready':
      return { type };
    case 'output':
      if (stream !== 'stdout' && stream !== 'stderr')
        throw new BadMessage('A message from the cell is of no stream');
      return { type, id: count(id), stream };
    case 'ended':
      return { type, id: count(id), end: decodeEnd(end) };
    case 'broken':
      return { type, id: count(id), reason: text(reason) };
    case 'file':
      return { type, id: count(id), value: answer };
    case 'refused':
      return { type, id: count(id), errno: text(errno) };
    default:
      throw new BadMessage('A message from the cell is of no kind');
  }
}

const KINDS = ['file', 'directory', 'link'] as const;

export interface CellStat {
  readonly kind: (typeof KINDS)[number];
  readonly sizeBytes: number;
}

export function decodeStat(value: unknown): CellStat {
  const { kind, sizeBytes } = fields(value);
  const found = KINDS.find((name) => name === kind);
  if (!found) throw new BadMessage('A message from the cell has no such kind of file');
  return { kind: found, sizeBytes: count(sizeBytes) };
}

export interface CellEntry extends CellStat {
  readonly path: string;
}

export function decodeEntries(value: unknown): CellEntry[] {
  if (!Array.isArray(value)) throw new BadMessage('A message from the cell has no list');
  return value.map((entry: unknown) => ({
    ...decodeStat(entry),
    path: text(fields(entry)['path']),
  }));
}

export function decodeNames(value: unknown): string[] {
  if (!Array.isArray(value)) throw new BadMessage('A message from the cell has no list');
  return value.map(text);
}
