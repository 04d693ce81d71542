import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';

import type { Evidence } from '../../src/evidence/evidence.ts';
import type { Place } from '../e2e/place.ts';
import { type Outcome, runBare } from '../e2e/run-assay.ts';
import { findAttack, findStill } from './program.ts';
import { ASSAY } from './run.ts';

/** A line of `--json`. */
export interface Line {
  readonly type: 'event' | 'program' | 'summary';
  readonly kind?: string;
  readonly op?: string;
  readonly path?: string;
  readonly requested?: string;
  readonly target?: string;
  readonly outcome?: string;
  readonly basis?: string;
  readonly program?: { readonly id: number; readonly image?: string };
  readonly id?: number;
  readonly image?: string;
  readonly script?: string;
  readonly digest?: string;
  readonly parent?: { readonly id: number; readonly image?: string };
  readonly command?: readonly string[];
}

export interface Recorded {
  readonly outcome: Outcome;
  readonly lines: readonly Line[];
  readonly evidence: Evidence;
}

export interface RecordOptions {
  readonly place: Place;
  /** Of the C program; or else `command`. */
  readonly id?: string;
  readonly option?: string | number;
  readonly command?: readonly string[];
  readonly flags?: readonly string[];
  readonly level?: 'all' | 'effects';
  /** Put in front of assay. */
  readonly prefix?: readonly string[];
}

/** How many times more than in an ordinary test run floods are to be, such as 100. */
export const FLOOD_FACTOR = Number(process.env['ASSAY_FLOOD_FACTOR'] ?? 1);

/** Puts the programs into the workspace, and gives all of it to the person. */
export function furnish(place: Place): void {
  place.write('work/attack', fs.readFileSync(findAttack()), 0o755);
  place.write('work/still', fs.readFileSync(findStill()), 0o755);
  place.write('work/allowed.txt', 'allowed');
  place.makeDir('out');
}

export function attackWords({ place, id = '', option }: RecordOptions): string[] {
  const words = ['./attack', id, place.base, 'token'];
  return option === undefined ? words : [...words, String(option)];
}

export function recordFlags({ place, flags = [], level = 'all' }: RecordOptions): string[] {
  const out = place.at('out');
  const policy = flags.includes('--policy') ? [] : ['--preset', 'coding-agent'];
  const record = ['--observe', level, '--profile-format', 'json'];
  const files = ['--profile', join(out, 'run.profile.json'), '--json', join(out, 'run.ndjson')];
  return ['--quiet', ...policy, ...record, ...files, ...flags];
}

export async function runRecorded(options: RecordOptions): Promise<Recorded> {
  const { place, command = attackWords(options) } = options;
  const words = [
    ...(options.prefix ?? []),
    ASSAY,
    'sandbox',
    ...recordFlags(options),
    '--',
    ...command,
  ];
  const outcome = await runBare({ place, command: words });
  return { outcome, lines: readLines(place), evidence: readEvidence(place) };
}

/** The same program, with nothing around it. */
export function runOutside(options: RecordOptions): void {
  const { place } = options;
  const [word = '', ...words] = [...place.person.prefix, ...attackWords(options)];
  const result = spawnSync(word, words, { cwd: place.work, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`${options.id}: ${result.stderr}`);
}

/** What stands behind the last newline may be cut off where whoever writes it was killed, or has not ended. */
export function readLines(place: Place, { isWhole = true } = {}): Line[] {
  const lines = fs.readFileSync(place.at('out/run.ndjson'), 'utf8').split('\n');
  const rest = lines.pop();
  if (isWhole && rest !== '') throw new Error(`a line was cut off: ${rest}`);
  return lines.map((line) => JSON.parse(line) as Line);
}

export function readEvidence(place: Place): Evidence {
  const text = fs.readFileSync(place.at('out/run.profile.evidence.json'), 'utf8');
  return JSON.parse(text) as Evidence;
}

/** Everything that is printed in lines of this form, without their first word. */
export function linesOf(stdout: string, word: string): string[] {
  const start = `${word} `;
  return stdout
    .split('\n')
    .filter((line) => line.startsWith(start))
    .map((line) => line.slice(start.length));
}

export function programLines({ lines }: Recorded): Line[] {
  return lines.filter(({ type }) => type === 'program');
}

export function eventsOf({ lines }: Recorded, ...ops: readonly string[]): Line[] {
  return lines.filter(({ type, op }) => type === 'event' && ops.includes(op ?? ''));
}

/** What the record covers, where that is not all. */
export function listGaps({ evidence }: Recorded): string[] {
  return Object.entries(evidence.coverage)
    .filter(([, { status }]) => status !== 'complete')
    .map(([surface, { reasons }]) => `${surface}: ${reasons.join('; ')}`);
}
