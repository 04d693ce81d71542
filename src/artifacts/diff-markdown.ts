import type { Comparison } from '../evidence/diff/compare.ts';
import type { Gate } from '../evidence/diff/gate.ts';
import type { Side } from '../evidence/diff/side.ts';
import { type DiffSection, makeSections } from './diff-sections.ts';
import { describeGate, describeTotal } from './diff-verdict.ts';
import { code, plural } from './markdown.ts';

const MAX_LINES = 20;
const MAX_DOUBTS = 6;
/** A comment on a pull request holds 65,536 characters. */
const MAX_LENGTH = 60_000;

/**
 * The comparison as a comment. Lists, since in a table a name with a backslash before a bar would end its cell. Names
 * stand in code spans only: there is no mention, link, image or HTML in one.
 */
export function writeDiffMarkdown(comparison: Comparison, gate: Gate | undefined): string {
  const { baseline, candidate, differences } = comparison;
  const head = [
    '## Evidence diff',
    '',
    `**${describeTotal(comparison)}.**${gate ? ` ${describeGate(gate)}.` : ''}`,
    '',
    describeSide('Baseline', baseline),
    describeSide('Candidate', candidate),
  ].join('\n');
  const sections = makeSections(differences, code);
  const parts = [head];
  let length = head.length;
  let left = 0;
  for (const section of sections) {
    const text = writeSection(section);
    if (length + text.length > MAX_LENGTH) {
      left += section.count;
      continue;
    }
    parts.push(text);
    length += text.length;
  }
  if (left > 0) parts.push(`… and ${plural(left, 'difference')} that would not fit here`);
  parts.push(...describeDoubts(comparison));
  return `${parts.join('\n\n')}\n`;
}

function describeSide(name: string, { manifest, kind }: Side): string {
  const { run_id, producer, event_count } = manifest;
  const format = kind === 'upstream' ? ', older format' : '';
  const by = code(`${producer.name} ${producer.version}`);
  return `- ${name}: ${code(run_id)}, ${by}, ${plural(event_count, 'event')}${format}`;
}

const WORDS = { '+': 'new', '-': 'gone', '~': 'changed' } as const;

function writeSection({ title, isGrave, count, lines }: DiffSection): string {
  const rest = lines.slice(MAX_LINES);
  return [
    `### ${isGrave ? '⚠️ ' : ''}${title} (${count})`,
    '',
    ...lines.slice(0, MAX_LINES).map((line) => {
      const many = line.count > 1 ? ` (${line.count} files)` : '';
      const phrase = line.phrase === '' ? '' : `: ${line.phrase}`;
      return `- ${WORDS[line.mark]} ${code(line.subject)}${many}${phrase}`;
    }),
    ...(rest.length > 0 ? [`- … and ${rest.reduce((sum, line) => sum + line.count, 0)} more`] : []),
  ].join('\n');
}

function describeDoubts({ doubts, notCompared }: Comparison): string[] {
  const parts = notCompared.map((what) => `Not compared: ${what}.`);
  if (doubts.length === 0) return parts;
  const more = doubts.length - MAX_DOUBTS;
  return [
    ...parts,
    [
      'Not everything was watched: what is not listed here may still have happened.',
      '',
      ...doubts.slice(0, MAX_DOUBTS).map((doubt) => `- ${code(doubt)}`),
      ...(more > 0 ? [`- … and ${more} more`] : []),
    ].join('\n'),
  ];
}
