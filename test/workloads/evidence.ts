import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Evidence } from '../../src/evidence/evidence.ts';
import { readBundle, type ReadBundle } from '../e2e/read-bundle.ts';
import { choosePolicy, type Outcome, runInside, type RunOptions } from './run.ts';

export interface RecordedRun {
  readonly outcome: Outcome;
  readonly evidence: Evidence;
  readonly runId: string;
  readonly bundle: ReadBundle;
  /** The policy that the run suggests. */
  readonly policyFile: string;
}

/** Runs inside with a record of it. */
export async function runRecorded(
  options: RunOptions,
  level: 'all' | 'effects' = 'all',
): Promise<RecordedRun> {
  const { out } = options.copy;
  const record = ['--profile', join(out, 'run.profile.json'), '--profile-format', 'json'];
  const bundleFile = join(out, 'run.bundle.tar.gz');
  const flags = [...choosePolicy(options), ...record, '--bundle', bundleFile, '--observe', level];
  const outcome = await runInside(options, flags);
  const names = readdirSync(out);
  const evidenceFile = names.find((name) => name.includes('.evidence.'));
  const policyFile = names.find(
    (name) => name.startsWith('run.profile') && !/evidence|report/.test(name),
  );
  if (evidenceFile === undefined || policyFile === undefined)
    throw new Error(`Not all artifacts were written: ${names.join(' ')}\n${outcome.stderr}`);
  const evidence = JSON.parse(readFileSync(join(out, evidenceFile), 'utf8')) as Evidence;
  const [runId = ''] = evidence.run_ids;
  const bundle = await readBundle(bundleFile);
  return { outcome, evidence, runId, bundle, policyFile: join(out, policyFile) };
}

/** Events that only one of two bundles has; when they were seen does not count. */
export function listBundleDifferences(first: ReadBundle, second: ReadBundle): string[] {
  const toText = ({ type, subject, data }: ReadBundle['events'][number]): string =>
    `${type} ${subject ?? ''} ${JSON.stringify(data)}`;
  return compare(first.events.map(toText), second.events.map(toText));
}

/** The lines that only one of two has, of what equal runs have in common. */
export function listEvidenceDifferences(first: Evidence, second: Evidence): string[] {
  return compare(toLines(first), toLines(second));
}

function compare(first: readonly string[], second: readonly string[]): string[] {
  const mine = new Set(first);
  const theirs = new Set(second);
  return [
    ...limit([...mine].filter((line) => !theirs.has(line)).map((line) => `- ${line}`)),
    ...limit([...theirs].filter((line) => !mine.has(line)).map((line) => `+ ${line}`)),
  ];
}

const MOST_LINES = 12;

function limit(lines: readonly string[]): string[] {
  const rest = lines.length - MOST_LINES;
  return rest > 0 ? [...lines.slice(0, MOST_LINES), `and ${rest} more`] : [...lines];
}

/** Each leaf on a line of its own, with the way to it. */
function toLines({ run: _run, digest: _digest, run_ids: _ids, ...content }: Evidence): string[] {
  const lines: string[] = [];
  const visit = (value: unknown, way: string): void => {
    if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
      lines.push(...value.map((item) => `${way}: ${String(item)}`));
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) visit(inner, `${way} > ${key}`);
    else lines.push(`${way}: ${String(value)}`);
  };
  for (const [key, value] of Object.entries(content)) visit(value, key);
  return lines;
}
