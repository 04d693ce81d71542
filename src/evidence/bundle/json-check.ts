import { findJsonProblem, type JsonProblemKind } from '../../core/strict-json.ts';
import { decodeUtf8 } from '../../core/utf8.ts';
import { BundleError, type BundleCode, type BundlePlace } from './bundle-error.ts';
import type { BundleLimits } from './limits.ts';

const CODES: Readonly<Record<JsonProblemKind, BundleCode>> = {
  syntax: 'ContractInvalidJson',
  'duplicate-key': 'ContractDuplicateKey',
  'lone-surrogate': 'ContractLoneSurrogate',
  number: 'ContractNumber',
  depth: 'LimitJsonDepth',
  keys: 'LimitJsonKeys',
  'string-length': 'LimitJsonString',
};

export function decodeText(bytes: Uint8Array, at: BundlePlace): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new BundleError('ContractInvalidJson', 'It is not UTF-8', at);
  if (text.startsWith('\ufeff'))
    throw new BundleError('ContractInvalidJson', 'It starts with a byte order mark', at);
  return text;
}

/** Throws for a text that two readers might understand in two ways. */
export function refuseLooseJson(
  text: string,
  { limits, isExact, at }: { limits: BundleLimits; isExact: boolean; at: BundlePlace },
): void {
  const problem = findJsonProblem(text, {
    depth: limits.jsonDepth,
    keys: limits.objectKeys,
    stringLength: limits.stringLength,
    isExact,
  });
  if (!problem) return;
  const { kind, message, offset } = problem;
  throw new BundleError(CODES[kind], `Not usable JSON: ${message}, at character ${offset + 1}`, at);
}

/**
 * Whether every object in a parsed value has its members in canonical order, and all of it keeps within the limits.
 * Together with the text being what JSON.stringify() makes of the value, this means that the text is canonical.
 */
export function isSorted(value: unknown, limits: BundleLimits, depth = 1): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > limits.jsonDepth) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isSorted(item, limits, depth + 1)) return false;
    return true;
  }
  const members = value as Readonly<Record<string, unknown>>;
  let last: string | undefined;
  let count = 0;
  for (const name in members) {
    if (last !== undefined && name <= last) return false;
    if (!isSorted(members[name], limits, depth + 1)) return false;
    last = name;
    count += 1;
  }
  return count <= limits.objectKeys;
}
