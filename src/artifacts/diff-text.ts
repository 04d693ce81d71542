import { toPrintable } from '../core/printable.ts';
import type { Comparison } from '../evidence/diff/compare.ts';
import type { Gate } from '../evidence/diff/gate.ts';
import type { Side } from '../evidence/diff/side.ts';
import { type DiffLine, type DiffSection, makeSections } from './diff-sections.ts';
import { describeGate, describeTotal } from './diff-verdict.ts';
import { plural } from './markdown.ts';

const MAX_LINES = 25;
const MAX_SUBJECT = 56;
const MAX_DOUBTS = 6;

/** The comparison for people: the dangerous first, then the rest, then what it cannot say. */
export function writeDiffText(comparison: Comparison, gate: Gate | undefined): string {
  const { baseline, candidate, differences } = comparison;
  const sections = makeSections(differences, toPrintable);
  const lines = [
    describeSide('Baseline ', baseline),
    describeSide('Candidate', candidate),
    '',
    ...sections.flatMap(writeSection),
    `${describeTotal(comparison)}.`,
    ...describeDoubts(comparison),
  ];
  if (gate) lines.push(describeGate(gate));
  return `${lines.join('\n')}\n`;
}

function describeSide(name: string, { manifest, kind }: Side): string {
  const { run_id, producer, event_count } = manifest;
  const by = `${toPrintable(producer.name)} ${toPrintable(producer.version)}`;
  const format = kind === 'upstream' ? ', older format' : '';
  return `${name}  ${toPrintable(run_id)}  (${by}, ${plural(event_count, 'event')}${format})`;
}

function writeSection({ title, isGrave, count, lines }: DiffSection): string[] {
  const shown = lines.slice(0, MAX_LINES);
  const rest = lines.slice(MAX_LINES);
  const width = Math.min(MAX_SUBJECT, Math.max(...shown.map((line) => showSubject(line).length)));
  return [
    `${isGrave ? '! ' : ''}${title} (${count})`,
    ...shown.map((line) =>
      `  ${line.mark} ${showSubject(line).padEnd(width)}  ${line.phrase}`.trimEnd(),
    ),
    ...(rest.length > 0
      ? [
          `  … and ${rest.reduce((sum, line) => sum + line.count, 0)} more; --format json has them all`,
        ]
      : []),
    '',
  ];
}

function showSubject({ subject, count }: DiffLine): string {
  return toPrintable(subject) + (count > 1 ? ` (${count} files)` : '');
}

function describeDoubts({ doubts, notCompared }: Comparison): string[] {
  const lines = notCompared.map((what) => `Not compared: ${toPrintable(what)}.`);
  if (doubts.length > 0) {
    const more = doubts.length - MAX_DOUBTS;
    lines.push(
      'Not everything was watched: what is not listed here may still have happened.',
      ...doubts.slice(0, MAX_DOUBTS).map((doubt) => `  ${toPrintable(doubt)}`),
      ...(more > 0 ? [`  … and ${more} more`] : []),
    );
  }
  return lines;
}
