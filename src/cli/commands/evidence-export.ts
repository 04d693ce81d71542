import { AtomicFile } from '../../artifacts/atomic-file.ts';
import { AssayError } from '../../core/errors.ts';
import { EVIDENCE_KIND } from '../../evidence/evidence.ts';
import { exportCsv } from '../../evidence/export/csv.ts';
import { exportOcsf } from '../../evidence/export/ocsf.ts';
import { exportOtlp } from '../../evidence/export/otlp.ts';
import type { Detail } from '../../evidence/export/upstream-events.ts';
import {
  collectPolicyInput,
  type UpstreamPolicyInput,
  writeUpstreamPolicy,
} from '../../evidence/export/upstream-policy.ts';
import { readUpstreamProfile, toProfileSource } from '../../evidence/export/upstream-profile.ts';
import { toUpstreamSource, type UpstreamSource } from '../../evidence/export/upstream-run.ts';
import { MalformedDocument } from '../../evidence/interop/judgement.ts';
import { isObject } from '../../evidence/interop/shape.ts';
import { writeOlderBundle } from '../export/older-bundle.ts';
import { SpooledBundle } from '../export/spooled-bundle.ts';
import type { FlagValues } from '../flag-values.ts';
import type { ParsedCommand } from '../parse.ts';
import { readEvidence, readProfileFile, refuseEvidence } from '../read-evidence.ts';

const TABLES = { ocsf: exportOcsf, otlp: exportOtlp, csv: exportCsv } as const;

/** `assay evidence export`: nothing is written before the bundle is known to be intact. */
export async function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const request = readRequest(flags, rest);
  const path = flags.text('output');
  if (path === undefined && request.format === 'upstream' && process.stdout.isTTY)
    throw new AssayError('E_USAGE', 'A bundle is not for a terminal', {
      hint: 'Name a file with -o, or send it to a program',
    });
  const file = path === undefined ? undefined : new AtomicFile(path, 'the export');
  try {
    const pieces = inChunks(exportTo(request));
    if (file) await file.writeStream(pieces);
    else for await (const piece of pieces) process.stdout.write(piece);
  } finally {
    file?.close();
  }
  return 0;
}

interface Request {
  readonly format: string;
  readonly detail: Detail;
  readonly bundle: string | undefined;
  readonly profile: string | undefined;
}

function readRequest(flags: FlagValues, [bundle]: readonly string[]): Request {
  const profile = flags.text('profile');
  const format = flags.text('format') ?? (profile === undefined ? undefined : 'upstream');
  if (format === undefined)
    throw refuseUsage('Say in which form: --format is missing', 'Such as --format ocsf');
  if ((bundle === undefined) === (profile === undefined))
    throw refuseUsage(
      bundle === undefined ? 'There is nothing to export' : 'There are two things to export',
      'Name either a bundle, or an evidence profile with --profile',
    );
  if (profile !== undefined && Object.hasOwn(TABLES, format))
    throw refuseUsage(
      `A profile cannot be exported as ${format}: it does not say when anything happened`,
      'Name the bundle of the run, or use --format upstream or upstream-policy',
    );
  const detail = flags.text('detail');
  if (detail !== undefined && format !== 'upstream')
    throw refuseUsage('--detail is for --format upstream only', 'Leave it out');
  return { format, bundle, profile, detail: (detail ?? 'observed') as Detail };
}

function refuseUsage(message: string, hint: string): AssayError {
  return new AssayError('E_USAGE', message, { hint });
}

async function* exportTo(request: Request): AsyncGenerator<string | Uint8Array> {
  if (request.profile !== undefined) {
    yield* exportProfile(request.profile, request);
    return;
  }
  const bundle = await SpooledBundle.open(request.bundle ?? '-');
  try {
    if (request.format === 'upstream')
      yield* writeOlderBundle(toUpstreamSource(bundle), request.detail);
    else if (request.format === 'upstream-policy')
      yield writePolicy(collectPolicyInput(bundle), bundle.kind === 'upstream');
    else yield* TABLES[request.format as keyof typeof TABLES](bundle);
  } finally {
    bundle.close();
  }
}

async function* exportProfile(
  file: string,
  { format, detail }: Request,
): AsyncGenerator<string | Uint8Array> {
  const { source, environment, isRaw } = await readSource(file);
  if (format === 'upstream') {
    yield* writeOlderBundle(source, detail);
    return;
  }
  const subjects = (kind: 'file' | 'program'): string[] =>
    Array.from(source.entries(kind), ({ subject }) => subject);
  const input = {
    paths: subjects('file'),
    programs: subjects('program'),
    environment,
    counters: {},
    notes: [],
  };
  yield writePolicy(input, isRaw);
}

/** Names of the older format are as they were seen, and become general by where this is called. */
function writePolicy(input: UpstreamPolicyInput, isRaw: boolean): string {
  return writeUpstreamPolicy(input, isRaw ? { cwd: process.cwd(), home: process.env['HOME'] } : {});
}

async function readSource(
  file: string,
): Promise<{ source: UpstreamSource; environment: readonly string[]; isRaw: boolean }> {
  const parsed = await readProfileFile(file);
  if (isObject(parsed) && parsed['kind'] === EVIDENCE_KIND) {
    const evidence = await readEvidence(file);
    return {
      source: toProfileSource(evidence),
      environment: evidence.environment.passed,
      isRaw: false,
    };
  }
  try {
    return { source: readUpstreamProfile(parsed), environment: [], isRaw: true };
  } catch (error) {
    if (error instanceof MalformedDocument) throw refuseEvidence(file, error.message, error);
    throw error;
  }
}

const CHUNK_CHARACTERS = 64 * 1024;

async function* inChunks(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const piece of pieces) {
    if (typeof piece !== 'string') yield piece;
    else {
      text += piece;
      if (text.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}
