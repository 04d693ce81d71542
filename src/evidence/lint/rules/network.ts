import { EVENT_TYPES } from '../../bundle/event-data.ts';
import { isLoopbackEndpoint } from '../place.ts';
import type { BundleContext, Check, Detector, Report, SeenEvent } from '../rule.ts';
import { HOST_REACHED, NETWORK_REACHED, NETWORK_TRIED, SOCKET_REACHED } from './control-rules.ts';
import { LIMIT_REACHED, NETWORK_REFUSED } from './refusal-rules.ts';

export const NETWORK: Detector = {
  rules: [
    NETWORK_REACHED,
    NETWORK_TRIED,
    HOST_REACHED,
    SOCKET_REACHED,
    NETWORK_REFUSED,
    LIMIT_REACHED,
  ],
  makeCheck: (report, context) => new NetworkCheck(report, context),
};

class NetworkCheck implements Check {
  readonly #report: Report;
  readonly #isSandbox: boolean;
  #isOnHost = false;

  constructor(report: Report, { isSandbox }: BundleContext) {
    this.#report = report;
    this.#isSandbox = isSandbox;
  }

  event({ fact, data, at }: SeenEvent): void {
    if (fact.type === EVENT_TYPES.started) this.#isOnHost ||= data['network'] === 'host';
    if (fact.kind === 'limit') {
      this.#report(LIMIT_REACHED, { place: fact.path, op: '', subject: fact.program, at });
      return;
    }
    if (fact.kind !== 'network' && fact.kind !== 'folded') return;
    const op = fact.op.replace(/^overflow /, '');
    if (op !== 'connect' && op !== 'bind' && op !== 'resolve') return;
    const { path: endpoint, outcome, program, refused_by: refusedBy } = fact;
    const by = program === 'unknown' ? op : `${op} by ${program}`;
    const occurrence = { place: endpoint, op, subject: endpoint, at };
    if (refusedBy !== undefined) {
      const why = refusedBy === '' ? 'nothing allows it' : refusedBy;
      this.#report(NETWORK_REFUSED, { ...occurrence, detail: `${by}: ${outcome}, ${why}` });
    } else if (op === 'connect' && isMade(outcome)) {
      const rule = this.#ruleOf(endpoint);
      if (rule) this.#report(rule, { ...occurrence, detail: by });
    } else if (op === 'connect' && this.#ruleOf(endpoint) === NETWORK_REACHED) {
      this.#report(NETWORK_TRIED, { ...occurrence, detail: `${by}: ${outcome}` });
    }
  }

  #ruleOf(endpoint: string): typeof NETWORK_REACHED | undefined {
    if (endpoint.startsWith('unix:')) return isOwnSocket(endpoint) ? undefined : SOCKET_REACHED;
    if (!isLoopbackEndpoint(endpoint)) return NETWORK_REACHED;
    // A port that the run itself has opened stands as ${PORT}.
    return this.#isSandbox && this.#isOnHost && !endpoint.endsWith(':${PORT}')
      ? HOST_REACHED
      : undefined;
  }
}

/** Where only the failure itself would be known, nothing says that it failed. */
export function isMade(outcome: string): boolean {
  return outcome === 'ok' || outcome === 'unknown';
}

/** In the private tmp or the workspace, or in the namespace of the run. */
function isOwnSocket(endpoint: string): boolean {
  return /^unix:(?:@|\$\{TMPDIR\}|\$\{CWD\}(?!\/\.\.)|$)/.test(endpoint);
}
