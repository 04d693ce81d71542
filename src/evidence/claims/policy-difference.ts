import { canonicalJson } from '../../core/canonical-json.ts';

/** Two effective policies, by what only one of them has. */
export interface PolicyDifference {
  readonly onlyInBundle: readonly string[];
  readonly onlyInFile: readonly string[];
}

export function comparePolicies(inBundle: unknown, inFile: unknown): PolicyDifference {
  const bundle = listEntries(inBundle);
  const file = listEntries(inFile);
  return { onlyInBundle: listMissing(bundle, file), onlyInFile: listMissing(file, bundle) };
}

function listMissing(
  entries: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string>,
): string[] {
  return [...entries].filter(([key]) => !others.has(key)).map(([, text]) => text);
}

/** Every single rule and setting, by its canonical JSON, with the words that show it. */
function listEntries(policy: unknown): Map<string, string> {
  const entries = new Map<string, string>();
  const visit = (name: string, value: unknown): void => {
    if (Array.isArray(value))
      for (const entry of value as unknown[])
        entries.set(canonicalJson([name, entry]), describeEntry(name, entry));
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) visit(name ? `${name}.${key}` : key, inner);
    else entries.set(canonicalJson([name, value]), `${name}: ${String(value)}`);
  };
  visit('', policy);
  return entries;
}

function describeEntry(name: string, entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return `${name}: ${String(entry)}`;
  const { key, effect, text } = entry as Readonly<Record<string, unknown>>;
  if (typeof text !== 'string') return `${name}: ${canonicalJson(entry)}`;
  if (typeof key === 'string') return `${key}: ${text}`;
  return `${name}${typeof effect === 'string' ? `.${effect}` : ''}: ${text}`;
}
