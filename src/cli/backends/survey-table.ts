import type { BackendReport, Guarantees } from '../../backends/backend.ts';
import { LIMIT_NAMES } from '../../backends/spec.ts';
import { toPrintable } from '../../core/printable.ts';
import { listLanguages } from '../../tool/prepare-code.ts';
import type { BackendSurvey } from './survey.ts';

/** One row a backend, and below it what is worth saying of each. */
export function renderSurvey(surveys: readonly BackendSurvey[]): string {
  const hasLatency = surveys.some(({ latency }) => latency);
  const header = ['BACKEND', 'ENGINE', 'KERNEL', 'FILES', 'NETWORK', 'LIMITS', 'RECORD'];
  const rows = surveys.map((survey) => [
    survey.id,
    nameEngine(survey.report),
    ...describeGuarantees(survey.report),
    ...(hasLatency ? [describeLatency(survey)] : []),
  ]);
  const table = [[...header, ...(hasLatency ? ['COLD / WARM'] : [])], ...rows];
  return `${alignColumns(table)}\n\n${surveys.map(renderNotes).join('')}`;
}

/** `QEMU 7.2.22` of all that is said of it below the table. */
function nameEngine(report: BackendReport | undefined): string {
  if (!report?.isAvailable) return 'not here';
  return toPrintable(/^[^,(]+/.exec(report.engine ?? '')?.[0].trim() ?? '');
}

function describeGuarantees(report: BackendReport | undefined): string[] {
  if (!report?.isAvailable) return ['', '', '', '', ''];
  const { guarantees } = report;
  return [
    guarantees.kernel,
    guarantees.files,
    guarantees.network,
    countLimits(guarantees),
    summariseCoverage(guarantees),
  ];
}

/** `7 hard, 1 soft of 9`. */
function countLimits({ limits }: Guarantees): string {
  const count = (strength: string): number =>
    LIMIT_NAMES.filter((name) => limits[name] === strength).length;
  const soft = count('soft');
  return `${count('hard')} hard${soft > 0 ? `, ${soft} soft` : ''} of ${LIMIT_NAMES.length}`;
}

function summariseCoverage({ coverage }: Guarantees): string {
  const values = Object.values(coverage);
  if (values.every((value) => value === 'complete')) return 'complete';
  return values.every((value) => value === 'absent') ? 'code only' : 'partial';
}

function describeLatency({ latency }: BackendSurvey): string {
  if (!latency) return '';
  return `${latency.coldMs} / ${latency.warmMs} ms (${latency.language})`;
}

function renderNotes({ id, report, problem, swept }: BackendSurvey): string {
  const lines: string[] = [];
  if (report?.engine !== undefined) lines.push(report.engine);
  lines.push(...(report?.reasons ?? []));
  if (problem !== undefined) lines.push(problem);
  if (report?.isAvailable)
    lines.push(`languages: ${nameLanguages(report)}`, ...listGaps(report.guarantees));
  if (report?.isAvailable === false && report.hint !== undefined)
    lines.push(`hint: ${report.hint}`);
  lines.push(...(swept?.removed ?? []).map((line) => `removed: ${line}`));
  lines.push(...(swept?.problems ?? []).map((line) => `cannot remove: ${line}`));
  return lines.map((line) => `${id}: ${toPrintable(line)}\n`).join('');
}

/** `python 3.14.8, javascript 24.21.0, typescript, bash 5.3.15`: the types are taken out, whatever their version. */
function nameLanguages(report: BackendReport): string {
  const named = listLanguages(report).map((language) => {
    const version = language === 'typescript' ? undefined : report.languages[language]?.version;
    return version === undefined ? language : `${language} ${version}`;
  });
  return named.join(', ');
}

function listGaps({ limits, coverage }: Guarantees): string[] {
  const weak = LIMIT_NAMES.filter((name) => limits[name] !== 'hard');
  const unseen = Object.entries(coverage).filter(([, value]) => value !== 'complete');
  return [
    ...(weak.length > 0
      ? [`limits: ${weak.map((name) => `${name} ${limits[name]}`).join(', ')}`]
      : []),
    ...(unseen.length > 0
      ? [`record: ${unseen.map(([surface, value]) => `${surface} ${value}`).join(', ')}`]
      : []),
  ];
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
