import { canonicalJson } from '../../core/canonical-json.ts';
import { sha256Hex } from '../../core/digest.ts';
import { isObject } from './shape.ts';

/**
 * The digest of a record in which some lists are sets: their order, and that something is there twice, does not count.
 * `setPaths` leads to those lists, a name for each step.
 */
export function digestSemantically(
  record: unknown,
  setPaths: readonly (readonly string[])[],
): string {
  const sorted = setPaths.reduce(sortAt, record);
  return `sha256:${sha256Hex(canonicalJson(sorted))}`;
}

function sortAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined)
    return Array.isArray(value) ? [...new Set(value as string[])].sort() : value;
  if (!isObject(value) || !Object.hasOwn(value, name)) return value;
  return { ...value, [name]: sortAt(value[name], rest) };
}
