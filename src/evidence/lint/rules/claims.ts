import { areaOf } from '../../controls.ts';
import { EVENT_TYPES } from '../../bundle/event-data.ts';
import { makeProtectedPaths } from '../../protected-path.ts';
import { SYSTEM_BASELINE } from '../../../policy/system-baseline.ts';
import { isLoopbackEndpoint } from '../place.ts';
import { toRecord, toText, toTexts } from '../plain-data.ts';
import type { Check, Detector, EventPlace, Report, RuleInfo, SeenEvent } from '../rule.ts';
import {
  CLAIM_CONTRADICTED,
  CLAIM_UNSUPPORTED,
  COVERAGE_ABSENT,
  COVERAGE_PARTIAL,
  COVERAGE_UNSTATED,
  STATEMENT_CONTRADICTED,
  STATEMENT_UNSUPPORTED,
} from './claim-rules.ts';
import { isMade } from './network.ts';
import { STATEMENT_KINDS, type Witnessed } from './statement-kinds.ts';

/** More than any run states. */
const MAX_STATEMENTS = 100;

/** By what a coding-agent pack speaks of: the surface that has to be watched for it. */
const CLAIMED_SURFACES = { files: 'changes', commands: 'programs', network: 'network' } as const;

interface Statement {
  readonly text: string;
  readonly at: EventPlace;
}

export const CLAIMS: Detector = {
  rules: [
    STATEMENT_UNSUPPORTED,
    STATEMENT_CONTRADICTED,
    CLAIM_UNSUPPORTED,
    CLAIM_CONTRADICTED,
    COVERAGE_PARTIAL,
    COVERAGE_ABSENT,
    COVERAGE_UNSTATED,
  ],
  makeCheck: (report) => new ClaimCheck(report),
};

class ClaimCheck implements Check {
  readonly #report: Report;
  readonly #protected = makeProtectedPaths();
  readonly #statements: Statement[] = [];
  /** What coding-agent packs say was observed. */
  readonly #claims: Statement[] = [];
  readonly #coverage = new Map<string, string>();
  readonly #folded = new Set<string>();
  readonly #kinds = new Set<string>();
  readonly #witnessed = new Set<Witnessed>();

  constructor(report: Report) {
    this.#report = report;
  }

  event(seen: SeenEvent): void {
    const { fact, at, data } = seen;
    if (fact.kind === 'coverage') this.#noteCoverage(seen);
    else if (fact.type === EVENT_TYPES.summary)
      for (const text of toTexts(data['statements'])) this.#note(this.#statements, { text, at });
    else if (fact.type === EVENT_TYPES.codingAgent)
      for (const [what, status] of Object.entries(toRecord(data['coverage'])))
        if (status === 'observed') this.#note(this.#claims, { text: what, at });
    this.#witness(seen);
  }

  end(): void {
    if (this.#coverage.size === 0)
      this.#report(COVERAGE_UNSTATED, { place: '', op: '', subject: '' });
    for (const statement of this.#statements) this.#judgeStatement(statement);
    for (const claim of this.#claims) this.#judgeClaim(claim);
  }

  #note(list: Statement[], statement: Statement): void {
    if (list.length < MAX_STATEMENTS) list.push(statement);
  }

  #noteCoverage({ data, at }: SeenEvent): void {
    for (const [surface, value] of Object.entries(toRecord(data['surfaces'])).slice(
      0,
      MAX_STATEMENTS,
    )) {
      const { status: text, reasons } = toRecord(value);
      const status = toText(text);
      this.#coverage.set(surface, status);
      if (status === 'complete') continue;
      const rule = status === 'partial' ? COVERAGE_PARTIAL : COVERAGE_ABSENT;
      this.#report(rule, { place: surface, op: '', subject: toTexts(reasons).join('; '), at });
    }
  }

  /** What a statement that something did not happen is compared with. */
  #witness({ fact }: SeenEvent): void {
    if (fact.kind === 'change') {
      this.#kinds.add('changes');
      this.#witnessChange(fact.path.replace(/\/$/, ''));
      return;
    }
    if (fact.kind === 'other' && /\.(?:tool|mcp)\b/.test(fact.type)) this.#kinds.add('tools');
    if (fact.kind === 'folded') this.#folded.add(surfaceOf(fact.op.replace(/^overflow /, '')));
    if (fact.kind !== 'file' && fact.kind !== 'network' && fact.kind !== 'program') return;
    const { op, path, outcome, refused_by: refusedBy } = fact;
    this.#kinds.add(surfaceOf(op));
    if (refusedBy !== undefined) this.#witnessed.add('refusal');
    if (
      fact.kind === 'network' &&
      op === 'connect' &&
      isMade(outcome) &&
      !path.startsWith('unix:')
    ) {
      this.#witnessed.add('connection');
      if (!isLoopbackEndpoint(path)) this.#witnessed.add('connection elsewhere');
    }
    if (fact.kind !== 'program') return;
    for (const image of fact.target === undefined ? [path] : [path, fact.target])
      if (!isOfSystem(image)) this.#witnessed.add('program elsewhere');
  }

  #witnessChange(path: string): void {
    this.#witnessed.add('change');
    if (areaOf(path) !== '${CWD}') this.#witnessed.add('change elsewhere');
    if (this.#protected.find(path) !== undefined) this.#witnessed.add('configuration');
  }

  #judgeStatement({ text, at }: Statement): void {
    const kind = STATEMENT_KINDS.find(({ form }) => form.test(text));
    const occurrence = { place: text, op: '', subject: text, at };
    // Of what nobody knows how to check, everything has to be watched.
    const surfaces = kind?.surfaces ?? ['changes', 'programs', 'network', 'reads'];
    const missing = surfaces.filter(
      (surface) => this.#coverage.get(surface) !== 'complete' || this.#folded.has(surface),
    );
    if (missing.length > 0) {
      const detail = `not watched completely: ${missing.join(', ')}`;
      this.#report(STATEMENT_UNSUPPORTED, { ...occurrence, detail });
    }
    if (kind && this.#witnessed.has(kind.contradictedBy))
      this.#report(STATEMENT_CONTRADICTED, {
        ...occurrence,
        detail: `there is a ${kind.contradictedBy}`,
      });
  }

  #judgeClaim({ text: what, at }: Statement): void {
    const report = (rule: RuleInfo, detail: string): void =>
      this.#report(rule, { place: what, op: '', subject: what, detail, at });
    if (!Object.hasOwn(CLAIMED_SURFACES, what)) {
      if (what === 'mcp_tools' && !this.#kinds.has('tools'))
        report(CLAIM_UNSUPPORTED, 'no event of a tool is there');
      return;
    }
    const surface = CLAIMED_SURFACES[what as keyof typeof CLAIMED_SURFACES];
    const status = this.#coverage.get(surface);
    if (this.#coverage.size === 0) {
      const isSeen =
        this.#kinds.has(surface) || (surface === 'changes' && this.#kinds.has('reads'));
      if (!isSeen)
        report(CLAIM_UNSUPPORTED, `no event about ${what} is there, and no coverage is stated`);
    } else if (status !== 'complete') {
      report(CLAIM_CONTRADICTED, `the coverage of ${surface} is ${status ?? 'not stated'}`);
    }
  }
}

function surfaceOf(op: string): string {
  if (op === 'connect' || op === 'bind' || op === 'resolve') return 'network';
  if (op === 'run' || op === 'exec') return 'programs';
  return op === 'read' || op === 'access' ? 'reads' : 'changes';
}

function isOfSystem(image: string): boolean {
  return (SYSTEM_BASELINE.fs?.exec ?? []).some((directory) => image.startsWith(`${directory}/`));
}
