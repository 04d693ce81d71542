import { toPrintable } from '../core/printable.ts';
import type { Finding } from '../evidence/lint/finding.ts';
import type { LintedPack, LintResult, Totals } from '../evidence/lint/lint-result.ts';
import { OWN_PACK, type RuleInfo, type Severity } from '../evidence/lint/rule.ts';
import { plural } from './markdown.ts';

/** So many of the examples that a finding has. */
const MAX_SHOWN = 3;

/** For people: the gravest first, each rule with its findings and what to do; packs apart from the rules of ours. */
export function renderLintText(result: LintResult): string {
  const { file, manifest, kind, totals, left, maxResults } = result;
  const lines = [
    `${toPrintable(file)}: ${describeTotals(totals)}`,
    `Run ${toPrintable(manifest.run_id)}, ${plural(manifest.event_count, 'event')}, intact${kind === 'upstream' ? ', older format' : ''}`,
    ...result.packs.flatMap((pack) => renderPack(pack, result)),
  ];
  if (left > 0)
    lines.push(
      '',
      `${plural(left, 'more finding')} not shown: --max-results is ${maxResults}; all are counted`,
    );
  return `${lines.join('\n')}\n`;
}

function renderPack(pack: LintedPack, { findings, packs, packTotals }: LintResult): string[] {
  const own = findings.filter(({ rule }) => rule.pack === pack.id);
  const lines: string[] = [];
  if (packs.length > 1) {
    const name = pack.id === OWN_PACK ? "assay's own rules" : `pack ${toPrintable(pack.id)}`;
    lines.push('', `── ${name}: ${describeTotals(packTotals.get(pack.id))}`);
  }
  const rules = new Set(own.map(({ rule }) => rule));
  for (const rule of rules)
    lines.push(
      '',
      ...renderRule(
        rule,
        own.filter((finding) => finding.rule === rule),
      ),
    );
  for (const { id, reason } of pack.skipped)
    lines.push(`Not checked: ${toPrintable(id)}: ${toPrintable(reason)}`);
  if (own.length > 0 && pack.disclaimer !== undefined)
    lines.push('', ...pack.disclaimer.trim().split('\n').map(toPrintable));
  return lines;
}

const LABELS: Readonly<Record<Severity, string>> = {
  error: 'error  ',
  warning: 'warning',
  info: 'info   ',
};

function renderRule(rule: RuleInfo, findings: readonly Finding[]): string[] {
  const [first] = findings;
  const reference = rule.reference === undefined ? '' : ` [${toPrintable(rule.reference)}]`;
  return [
    `${LABELS[first?.severity ?? rule.severity]} ${toPrintable(rule.id)}  ${toPrintable(rule.title)}${reference}`,
    ...findings.flatMap((finding) => renderFinding(finding)),
    rule.fix === '' ? `  More: --explain ${toPrintable(shortId(rule))}` : `  Fix: ${rule.fix}`,
  ];
}

/** Inside its pack. */
function shortId({ id }: RuleInfo): string {
  return id.slice(id.lastIndexOf(':') + 1);
}

function renderFinding({ rule, place, op, count, examples, message }: Finding): string[] {
  if (rule.pack !== OWN_PACK) {
    const line = examples[0]?.at?.line;
    return [`  ${toPrintable(message)}${line === undefined ? '' : `  (line ${line})`}`];
  }
  const lines: string[] = [];
  const isOne = count === 1 && examples[0]?.subject === place;
  if (place !== '' && !isOne) {
    const many = count > 1 ? ` (${count})` : '';
    lines.push(`  ${op === '' ? '' : `${op} `}${toPrintable(place)}${many}`);
  }
  const indent = isOne || place === '' ? '  ' : '    ';
  for (const { subject, detail, at } of examples.slice(0, MAX_SHOWN)) {
    const text = [subject, detail].filter((part) => part !== '').map(toPrintable);
    if (text.length > 0)
      lines.push(`${indent}${text.join('  ')}${at === undefined ? '' : `  (line ${at.line})`}`);
  }
  if (count > MAX_SHOWN) lines.push(`${indent}… and ${count - MAX_SHOWN} more`);
  return lines;
}

function describeTotals(totals: Totals | undefined): string {
  if (!totals || totals.total === 0) return 'no findings';
  const { errors, warnings, infos } = totals;
  return [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
    ...(infos > 0 ? [`${infos} for information`] : []),
  ].join(', ');
}

/** What a rule looks for, and how to mend it. */
export function renderRuleText(rule: RuleInfo): string {
  const lines = [
    `${toPrintable(rule.id)}: ${toPrintable(rule.title)}`,
    '',
    `Severity: ${rule.severity}`,
    `Part of:  ${toPrintable(rule.pack)} (${rule.area})`,
    ...(rule.reference === undefined ? [] : [`Refers to: ${toPrintable(rule.reference)}`]),
    '',
    ...rule.explanation.trim().split('\n').map(toPrintable),
    ...(rule.fix === '' ? [] : ['', `Fix: ${rule.fix}`]),
  ];
  return `${lines.join('\n')}\n`;
}
