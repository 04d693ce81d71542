import type { CanonicalLine } from '../normalise/canonical-line.ts';
import { HASH_PREFIX } from './content-hash.ts';
import {
  EVENT_TYPES,
  type ExecData,
  type FsData,
  type LineData,
  typeOfOperation,
} from './event-data.ts';
import type { EventDraft } from './write-bundle.ts';

export interface LineEventOptions {
  readonly timeOf: (atMs: number | undefined) => string;
  /** With the prefix `sha256:`. */
  readonly digestsOf: (image: string) => readonly string[];
  readonly isSystem?: boolean | undefined;
}

/** The layer that watches; it sees every operation that is in the record. */
const BACKEND = 'broker';

/** A program can change a file and run it as often as it likes, and every line about that file would tell all of them. */
const MAX_DIGESTS = 16;

/** One fact of a run as an event. */
export function toLineEvent(line: CanonicalLine, options: LineEventOptions): EventDraft {
  const type = typeOfOperation(line.op);
  return {
    type,
    time: options.timeOf(line.atMs),
    subject: line.path,
    data: addOwn(type, toLineData(line), options),
  };
}

/** What is absent has no key. */
function toLineData(line: CanonicalLine): LineData {
  const { op, path, target, outcome, program, refusedBy, digest, basis } = line;
  return {
    op,
    path,
    ...(target !== undefined && { target }),
    outcome,
    program,
    ...(refusedBy !== undefined && { refused_by: refusedBy }),
    ...(digest !== undefined && { digest }),
    ...(basis !== undefined && { basis }),
  };
}

function addOwn(type: string, data: LineData, options: LineEventOptions): LineData {
  if (type === EVENT_TYPES.fs) {
    const fs: FsData = { ...data, backend: BACKEND, ...(options.isSystem && { system: true }) };
    return fs;
  }
  if (type !== EVENT_TYPES.exec) return data;
  const digests =
    data.digest === undefined ? options.digestsOf(data.path) : [HASH_PREFIX + data.digest];
  const omitted = digests.length - MAX_DIGESTS;
  const exec: ExecData = {
    ...data,
    argv0: data.path,
    ...(digests.length > 0 && { image_digests: digests.slice(0, MAX_DIGESTS) }),
    ...(omitted > 0 && { image_digests_omitted: omitted }),
  };
  return exec;
}
