import { toPrintable, toPrintableJson } from '../core/printable.ts';
import { EVENTS_NAME, MANIFEST_NAME } from '../evidence/bundle/bundle.ts';
import type { Example, Finding } from '../evidence/lint/finding.ts';
import type { LintResult } from '../evidence/lint/lint-result.ts';
import type { RuleInfo, Severity } from '../evidence/lint/rule.ts';

const SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

const TOOL = 'assay-evidence-lint';

/** The artifacts of a run, by index. */
const BUNDLE = 0;
const MANIFEST = 1;
const EVENTS = 2;

const LEVELS: Readonly<Record<Severity, string>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
};

type Json = Readonly<Record<string, unknown>>;

/** The findings as SARIF 2.1.0, for code scanning. */
export function renderSarif(result: LintResult): string {
  const rules = result.packs.flatMap((pack) => pack.rules);
  const run = {
    tool: {
      driver: {
        name: TOOL,
        version: result.version,
        semanticVersion: result.version,
        rules: rules.map(describeRule),
        properties: { assayPacks: result.packs.map(({ id }) => id) },
      },
    },
    automationDetails: { id: `${TOOL}/${result.manifest.run_id}` },
    columnKind: 'utf16CodeUnits',
    invocations: [describeInvocation(result)],
    artifacts: listArtifacts(result),
    results: result.findings.map((finding) =>
      describeFinding(finding, rules.indexOf(finding.rule)),
    ),
    properties: {
      bundle_id: result.manifest.bundle_id,
      run_id: result.manifest.run_id,
      kind: result.kind,
      appliedCap: result.maxResults,
      truncated: result.left > 0,
      truncatedCount: result.left,
      ...describeDisclaimers(result),
    },
  };
  return `${toPrintableJson({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, 2)}\n`;
}

function describeRule(rule: RuleInfo): Json {
  const { id, title, explanation, fix, area, pack, severity, securitySeverity, reference } = rule;
  const text = fix === '' ? explanation.trim() : `${explanation.trim()}\n\nFix: ${fix}`;
  return {
    id,
    shortDescription: { text: escapeText(title) },
    fullDescription: { text: escapeText(explanation.trim()) },
    help: { text: escapeText(text), markdown: text },
    defaultConfiguration: { level: LEVELS[severity] },
    properties: {
      pack,
      tags: [area, ...(securitySeverity === undefined ? [] : ['security'])],
      ...(securitySeverity === undefined ? {} : { 'security-severity': securitySeverity }),
      ...(reference === undefined ? {} : { article_ref: reference }),
    },
  };
}

function describeInvocation({ left, maxResults }: LintResult): Json {
  const notification = {
    descriptor: { id: 'ASSAY-LINT-TRUNCATED' },
    level: 'warning',
    message: { text: `${left} findings are not listed; at most ${maxResults} are` },
    properties: { droppedCount: left },
  };
  return {
    executionSuccessful: true,
    ...(left > 0 ? { toolExecutionNotifications: [notification] } : {}),
  };
}

function describeDisclaimers({ packs }: LintResult): Json {
  const disclaimers = packs.flatMap(({ id, disclaimer }) =>
    disclaimer === undefined ? [] : [[id, disclaimer.trim()] as const],
  );
  return disclaimers.length > 0 ? { disclaimers: Object.fromEntries(disclaimers) } : {};
}

/** The bundle, and what is in it. */
function listArtifacts({ file, sha256, manifest }: LintResult): Json[] {
  const events = manifest.files[EVENTS_NAME];
  return [
    {
      location: { uri: toUri(file), index: BUNDLE },
      hashes: { 'sha-256': sha256 },
      mimeType: 'application/gzip',
    },
    { location: { uri: MANIFEST_NAME, index: MANIFEST }, parentIndex: BUNDLE },
    {
      location: { uri: EVENTS_NAME, index: EVENTS },
      parentIndex: BUNDLE,
      ...(events ? { length: events.bytes } : {}),
    },
  ];
}

/** The name alone: where it lies is of no use to others. */
function toUri(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return encodeURIComponent(name || 'bundle');
}

function describeFinding(finding: Finding, ruleIndex: number): Json {
  const { rule, severity, place, op, count, examples, fingerprint } = finding;
  const [first, ...others] = examples;
  const related = others.map((example, at) => ({ id: at + 1, ...describePlace(example, finding) }));
  return {
    ruleId: rule.id,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: escapeText(toPrintable(describeMessage(finding))) },
    locations: [describePlace(first, finding)],
    ...(related.length > 0 ? { relatedLocations: related } : {}),
    partialFingerprints: {
      'assayLintFingerprint/v1': fingerprint,
      primaryLocationLineHash: `${fingerprint.slice(0, 16)}:1`,
    },
    occurrenceCount: count,
    properties: { pack: rule.pack, place, op },
  };
}

function describeMessage({ message, count, examples }: Finding): string {
  const shown = examples
    .map(({ subject, detail }) => [subject, detail].filter((part) => part !== '').join(', '))
    .filter((text) => text !== '');
  if (shown.length === 0) return message;
  const more = count > examples.length ? `; ${count - examples.length} more` : '';
  return `${message} (${shown.join('; ')}${more})`;
}

function describePlace(example: Example | undefined, { place }: Finding): Json {
  const at = example?.at;
  const name = example?.subject || place;
  return {
    physicalLocation: {
      artifactLocation:
        at === undefined
          ? { uri: MANIFEST_NAME, index: MANIFEST }
          : { uri: EVENTS_NAME, index: EVENTS },
      region: { startLine: at?.line ?? 1, startColumn: 1 },
    },
    ...(name === '' ? {} : { logicalLocations: [{ name, kind: 'resource' }] }),
  };
}

/**
 * In a message of SARIF, brackets make links (3.11.6) and braces placeholders (3.11.5). The names of places, `${CWD}`,
 * are written without theirs, since few readers undo the doubling.
 */
function escapeText(text: string): string {
  return text
    .split('\n')
    .map(toPrintable)
    .join('\n')
    .replace(/\$\{([A-Z_-]+)\}/g, '$$$1')
    .replace(/[\\[\]]/g, '\\$&')
    .replace(/[{}]/g, '$&$&');
}
