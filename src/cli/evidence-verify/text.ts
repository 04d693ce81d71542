import { toPrintable } from '../../core/printable.ts';
import type { CheckStatus, VerifyReport } from './report.ts';

const MARKS: Readonly<Record<CheckStatus, string>> = {
  passed: '✓',
  failed: '✗',
  note: '!',
  skipped: '-',
};

/** At most so many rules of each side, for people; JSON has them all. */
const SHOWN_RULES = 10;

export function formatVerifyReport(report: VerifyReport): string {
  const width = Math.max(...report.checks.map(({ name }) => name.length));
  const lines = [
    ...report.checks.flatMap(({ name, status, detail }) => [
      `${MARKS[status]} ${name.padEnd(width)}  ${detail}`,
      ...(name === 'policy' ? formatDifference(report) : []),
    ]),
    '',
    `${report.bundle}: ${formatVerdict(report)}`,
    `Not claimed: ${report.notClaimed.join('; ')}.`,
  ];
  return `${lines.map(toPrintable).join('\n')}\n`;
}

function formatVerdict({ verdict, exitCode, signers }: VerifyReport): string {
  const [signer] = signers;
  const by = exitCode === 0 && signer ? ` by ${signer.name || signer.file}` : '';
  return `${verdict}${by}`;
}

function formatDifference({ policy }: VerifyReport): string[] {
  if (!policy) return [];
  return [
    ...listRules('only in the bundle', policy.onlyInBundle),
    ...listRules(`only in ${policy.file}`, policy.onlyInFile),
  ];
}

function listRules(where: string, rules: readonly string[]): string[] {
  const rest = rules.length - SHOWN_RULES;
  return [
    ...rules.slice(0, SHOWN_RULES).map((rule) => `    ${where}: ${rule}`),
    ...(rest > 0 ? [`    ${where}: ${rest} more; --json has them all`] : []),
  ];
}
