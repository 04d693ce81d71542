import { toPrintableJson } from '../core/printable.ts';
import type { Example, Finding } from '../evidence/lint/finding.ts';
import type { LintResult } from '../evidence/lint/lint-result.ts';
import type { RuleInfo } from '../evidence/lint/rule.ts';

const LINT_SCHEMA = 'assay.lint.v1';

/** The result for programs, as docs/evidence-lint.md lays it out. */
export function renderLintJson(result: LintResult): string {
  const { manifest, packs, findings } = result;
  const document = {
    schema: LINT_SCHEMA,
    tool_version: result.version,
    verified: true,
    bundle_meta: {
      file: result.file,
      sha256: result.sha256,
      kind: result.kind,
      bundle_id: manifest.bundle_id,
      run_id: manifest.run_id,
      event_count: manifest.event_count,
      producer: manifest.producer,
    },
    packs: packs.map(({ id, rules, disclaimer, skipped }) => ({
      id,
      rule_count: rules.length,
      summary: result.packTotals.get(id),
      skipped,
      ...(disclaimer === undefined ? {} : { disclaimer }),
    })),
    findings: findings.map(toDocument),
    summary: result.totals,
    truncated: result.left > 0,
    truncated_count: result.left,
    applied_cap: result.maxResults,
    fail_on: result.failOn,
    failed: result.hasFailed,
  };
  return `${toPrintableJson(document, 2)}\n`;
}

function toDocument(finding: Finding): Readonly<Record<string, unknown>> {
  const { rule, severity, message, place, op, count, examples, fingerprint } = finding;
  return {
    rule_id: rule.id,
    pack: rule.pack,
    area: rule.area,
    severity,
    title: rule.title,
    message,
    place,
    op,
    count,
    location: toLocation(examples[0]),
    examples: examples.map((example) => ({
      subject: example.subject,
      detail: example.detail,
      location: toLocation(example),
    })),
    fix: rule.fix,
    fingerprint: `sha256:${fingerprint}`,
    ...(rule.reference === undefined ? {} : { article_ref: rule.reference }),
  };
}

function toLocation(example: Example | undefined): Readonly<Record<string, unknown>> | null {
  if (example?.at === undefined) return null;
  const { seq, line, type } = example.at;
  return { seq, line, event_type: type };
}

export function renderRuleJson(rule: RuleInfo): string {
  const { id, pack, area, severity, title, explanation, fix, securitySeverity, reference } = rule;
  const document = {
    id,
    pack,
    area,
    severity,
    title,
    explanation,
    fix,
    ...(securitySeverity === undefined ? {} : { security_severity: securitySeverity }),
    ...(reference === undefined ? {} : { article_ref: reference }),
  };
  return `${toPrintableJson(document, 2)}\n`;
}
