import { describePlace, placeOf, type PolicyDocument } from './document.ts';
import type { InjectRule, NetRule, Origin } from './policy.ts';
import { parseInstant } from './rule-end.ts';
import { parseDuration } from './units.ts';

/** The rules of `net.allow` and `net.deny`, in the order of the file. */
export function toNetRules(document: PolicyDocument): NetRule[] {
  const { allow = [], deny = [] } = document.data.net ?? {};
  return [
    ...allow.map((entry, index): NetRule => {
      const place = `net.allow.${index}`;
      if (typeof entry === 'string')
        return { effect: 'allow', text: entry, origin: toOrigin(document, place, entry) };
      const { host, methods, paths, tls, until, for: lasting } = entry;
      return {
        effect: 'allow',
        text: host,
        origin: toOrigin(document, `${place}.host`, host),
        ...((methods ?? paths) && { http: { methods, paths } }),
        ...(tls === true && { isTlsOpened: true }),
        ...(until !== undefined && { expiresAtMs: parseInstant(until) }),
        ...(lasting !== undefined && { lastsMs: parseDuration(lasting) }),
      };
    }),
    ...deny.map((text, index): NetRule => {
      return { effect: 'deny', text, origin: toOrigin(document, `net.deny.${index}`, text) };
    }),
  ];
}

export function toInjectRules(document: PolicyDocument): InjectRule[] {
  return (document.data.net?.inject ?? []).map((entry, index) => ({
    text: entry.host,
    header: entry.header,
    from: entry.env === undefined ? { command: entry.command ?? [] } : { env: entry.env },
    isTlsOpened: entry.tls === true,
    origin: toOrigin(document, `net.inject.${index}.host`, entry.host),
  }));
}

function toOrigin(document: PolicyDocument, place: string, text: string): Origin {
  const key = place.split('.', 2).join('.');
  return { source: describePlace(document, place), key, text, at: placeOf(document, place) };
}
