import * as fs from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';

import type { BackendId, BackendReport } from '../../src/backends/backend.ts';
import { GROUPS, type Group } from './row.ts';

export type Status = 'passed' | 'failed' | 'not run';

export interface RowResult {
  readonly group: Group;
  readonly name: string;
  readonly status: Status;
  /** Why it was not run. */
  readonly reason?: string | undefined;
}

export interface KitResults {
  readonly backend: BackendId;
  readonly engine: string | undefined;
  readonly isAvailable: boolean;
  readonly reasons: readonly string[];
  readonly guarantees: BackendReport['guarantees'];
  readonly host: { readonly kernel: string; readonly node: string; readonly uid: number };
  readonly isFull: boolean;
  /** Which way to the engine, where a backend has more than one. */
  readonly variant?: string | undefined;
  readonly rows: readonly RowResult[];
}

function count(rows: readonly RowResult[]): string {
  const of = (status: Status): number => rows.filter((row) => row.status === status).length;
  return `${of('passed')} passed, ${of('failed')} failed, ${of('not run')} not run`;
}

/** The counts of one backend, by group. */
export function describeResults({ backend, engine, rows }: KitResults): string {
  const groups = GROUPS.map((group) => ({ group, own: rows.filter((row) => row.group === group) }))
    .filter(({ own }) => own.length > 0)
    .map(({ group, own }) => `  ${group.padEnd(10)} ${count(own)}`);
  return [`conformance of ${backend} (${engine ?? 'no engine'}): ${count(rows)}`, ...groups].join(
    '\n',
  );
}

export function saveResults(
  report: BackendReport,
  rows: readonly RowResult[],
  { isFull, variant }: Pick<KitResults, 'isFull' | 'variant'>,
): KitResults {
  const results: KitResults = {
    backend: report.id,
    engine: report.engine,
    isAvailable: report.isAvailable,
    reasons: report.reasons,
    guarantees: report.guarantees,
    host: { kernel: release(), node: process.version, uid: process.getuid?.() ?? 0 },
    isFull,
    ...(variant !== undefined && { variant }),
    rows,
  };
  const directory = process.env['ASSAY_KIT_RESULTS'];
  if (directory !== undefined && directory !== '') {
    fs.mkdirSync(directory, { recursive: true });
    const name = [report.id, ...(variant === undefined ? [] : [variant])].join('-');
    fs.writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
  }
  return results;
}
