import type { Outcome } from './workload.ts';

/** The lines that only one of the two has; nothing when the outcomes are the same. */
export function listDifferences(outside: Outcome, inside: Outcome): string[] {
  const found: string[] = [];
  if (outside.exit !== inside.exit)
    found.push(`exit: ${outside.exit} outside, ${inside.exit} inside`);
  for (const part of ['stdout', 'stderr', 'tree'] as const) {
    const [before, after] = [outside[part], inside[part]];
    const missing = subtract(before, after);
    const extra = subtract(after, before);
    found.push(...missing.map((line) => `${part} outside: ${line}`));
    found.push(...extra.map((line) => `${part} inside:  ${line}`));
    if (missing.length + extra.length > 0) continue;
    const first = before.findIndex((line, index) => line !== after[index]);
    if (first >= 0) found.push(`${part}: other order from line ${first + 1}: ${before[first]}`);
  }
  return found;
}

/** What is in `lines` more often than in `others`. */
function subtract(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}
