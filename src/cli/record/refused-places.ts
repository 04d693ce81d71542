import type { RunRecord } from '../../evidence/run-record.ts';

/** A place in the network that was asked for in vain. */
export interface RefusedEndpoint {
  readonly op: string;
  /** `tcp:192.0.2.7:443`, `dns:example.org` */
  readonly path: string;
  /** As a person reads it; null when nothing allows it. */
  readonly rule: string | null;
  /** The flag that would allow it. */
  readonly hint?: string | undefined;
}

/** What the rules for the network refused, at a door or since no door leads there; each place once. */
export function listRefusedPlaces({ events, egress }: RunRecord): RefusedEndpoint[] {
  const places = new Map<string, RefusedEndpoint>();
  for (const event of events) {
    if (event.kind !== 'network' || event.decision?.layer !== 'egress') continue;
    const { op, family, host, port, decision } = event;
    const name = host.includes(':') ? `[${host}]` : host;
    const path = `${family}:${name}${port === undefined ? '' : `:${port}`}`;
    places.set(path, { op, path, rule: decision.rule, hint: egress?.hints.get(path) });
  }
  return [...places.values()];
}
