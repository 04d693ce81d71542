/** The candidate nearest to `word`, if one is near enough to be what was meant. */
export function findClosest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein, with two neighbours in the wrong order counted as one edit: it is the commonest slip. */
function editDistance(first: string, second: string): number {
  if (Math.abs(first.length - second.length) > 8) return 99;
  let older: number[] = [];
  let previous = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let i = 1; i <= first.length; i++) {
    const row = [i];
    for (let j = 1; j <= second.length; j++) {
      const cost = first[i - 1] === second[j - 1] ? 0 : 1;
      let best = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + cost);
      const isSwap =
        i > 1 && j > 1 && first[i - 1] === second[j - 2] && first[i - 2] === second[j - 1];
      if (isSwap) best = Math.min(best, at(older, j - 2) + 1);
      row.push(best);
    }
    older = previous;
    previous = row;
  }
  return at(previous, second.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 99;
}
