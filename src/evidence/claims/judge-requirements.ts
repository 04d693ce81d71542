import type { Finding, FindingKind, Findings } from './findings.ts';
import { type Requirement, REQUIREMENTS } from './requirement.ts';
import type { Surfaces } from './surfaces.ts';

export interface RequirementResult {
  readonly requirement: Requirement;
  /** `unsupported`: nothing speaks against it, but not all was watched. */
  readonly status: 'met' | 'violated' | 'unsupported';
  readonly detail: string;
}

const AGAINST: Readonly<Partial<Record<Requirement, FindingKind>>> = {
  'no-egress': 'egress',
  'no-denials': 'denials',
  'no-writes-outside-workspace': 'writes-outside',
};

const WORDS: Readonly<Record<FindingKind, readonly [one: string, many: string]>> = {
  egress: ['way out was used', 'ways out were used'],
  denials: ['attempt was refused', 'attempts were refused'],
  'writes-outside': ['write outside', 'writes outside'],
};

/** What was seen counts wherever it was seen; that something did not happen only where everything was. */
export function judgeRequirement(
  requirement: Requirement,
  { findings, surfaces }: { readonly findings: Findings; readonly surfaces: Surfaces },
): RequirementResult {
  const kind = AGAINST[requirement];
  const finding = kind && findings.get(kind);
  if (kind && finding && finding.count > 0)
    return { requirement, status: 'violated', detail: describeFinding(kind, finding) };
  const gaps = REQUIREMENTS[requirement].filter((name) => surfaces[name].status !== 'complete');
  if (gaps.length === 0) return { requirement, status: 'met', detail: describeMet(requirement) };
  const detail = gaps
    .map((name) => `${name} ${surfaces[name].status}${formatReasons(surfaces[name].reasons)}`)
    .join('; ');
  return { requirement, status: 'unsupported', detail };
}

function describeFinding(kind: FindingKind, { count, examples }: Finding): string {
  const rest = count - examples.length;
  const more = rest > 0 ? `, and ${rest} more` : '';
  return `${count} ${WORDS[kind][count === 1 ? 0 : 1]}: ${examples.join(', ')}${more}`;
}

function describeMet(requirement: Requirement): string {
  const watched = REQUIREMENTS[requirement].join(', ');
  return AGAINST[requirement]
    ? `none, with complete coverage of ${watched}`
    : `complete: ${watched}`;
}

function formatReasons(reasons: readonly string[]): string {
  return reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
}
