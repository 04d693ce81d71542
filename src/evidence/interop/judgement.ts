/** What is to be said of a loose document: what it is, whether it passes, and the facts that it was judged by. */
export interface Judgement {
  readonly kind: 'enforcement-health' | 'sandbox-events' | 'coding-agent' | 'unknown';
  /** `malformed` is not what it claims to be, or holds nothing that could be judged. */
  readonly verdict: 'pass' | 'fail' | 'malformed';
  readonly reason: string;
  /** What a reviewer should see, although it decides nothing. */
  readonly signals: readonly string[];
  readonly report: Readonly<Record<string, unknown>>;
}

/** A document that is not in the form that it claims; the message says where. */
export class MalformedDocument extends Error {}

export function malformed(
  kind: Judgement['kind'],
  reason: string,
  report: Judgement['report'] = {},
): Judgement {
  return { kind, verdict: 'malformed', reason, signals: [], report };
}
