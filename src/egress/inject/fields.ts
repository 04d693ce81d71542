import type { InjectRule } from '../../policy/policy.ts';
import type { Field } from '../http-head.ts';
import type { InjectedValues } from './values.ts';

export interface EditRequest {
  /** The entries for this host. */
  readonly rules: readonly InjectRule[];
  readonly values: InjectedValues;
  readonly method: string;
  readonly isTls: boolean;
}

/** A server answers these with the request itself, and the value would come back with it. */
const ECHOING = new Set(['TRACE', 'TRACK']);

/**
 * The fields with those that are injected, in place of the program's own. An entry for TLS is never sent in the clear,
 * where a program could have it sent just by asking for http://.
 */
export function injectFields(
  fields: readonly Field[],
  { rules, values, method, isTls }: EditRequest,
): readonly Field[] {
  if (ECHOING.has(method.toUpperCase())) return fields;
  const injected = rules.flatMap((rule): Field[] => {
    const value = values.get(rule);
    return rule.isTlsOpened === isTls && value !== undefined ? [[rule.header, value]] : [];
  });
  if (injected.length === 0) return fields;
  // Of two entries for one header the first one counts.
  const byName = new Map<string, Field>();
  for (const field of injected)
    if (!byName.has(toKey(field[0]))) byName.set(toKey(field[0]), field);
  return [...fields.filter(([name]) => !byName.has(toKey(name))), ...byName.values()];
}

/** Servers that hand headers to programs as variables take `_` for `-` (RFC 3875, 4.1.18). */
function toKey(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
