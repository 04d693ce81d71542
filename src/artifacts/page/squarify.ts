export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Divides a box by weights, sorted with the largest first, into boxes that are as square as may be: rows are filled
 * along the shorter side for as long as that makes the worst of them better.
 */
export function squarify(weights: readonly number[], box: Box): Box[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= 0) return weights.map(() => ({ ...box, width: 0, height: 0 }));
  const scale = (box.width * box.height) / total;
  const areas = weights.map((weight) => weight * scale);
  const boxes: Box[] = [];
  let free = box;
  let from = 0;
  while (from < areas.length) {
    const side = Math.max(Math.min(free.width, free.height), 1e-9);
    let to = from + 1;
    let sum = areas[from] ?? 0;
    let worst = worstRatio(areas.slice(from, to), sum, side);
    while (to < areas.length) {
      const nextSum = sum + (areas[to] ?? 0);
      const next = worstRatio(areas.slice(from, to + 1), nextSum, side);
      if (next > worst) break;
      worst = next;
      sum = nextSum;
      to += 1;
    }
    free = placeRow({ areas: areas.slice(from, to), sum, free, boxes });
    from = to;
  }
  return boxes;
}

/** Of a row, sorted: its first or its last is the least square. */
function worstRatio(row: readonly number[], sum: number, side: number): number {
  const first = row[0] ?? 0;
  const last = row.at(-1) ?? 0;
  const square = side * side;
  return Math.max((square * first) / (sum * sum), (sum * sum) / (square * Math.max(last, 1e-9)));
}

interface RowPlace {
  readonly areas: readonly number[];
  readonly sum: number;
  readonly free: Box;
  readonly boxes: Box[];
}

/** Puts a row at the start of what is free, and returns the rest. */
function placeRow({ areas, sum, free, boxes }: RowPlace): Box {
  const isWide = free.width >= free.height;
  const side = Math.max(isWide ? free.height : free.width, 1e-9);
  const thickness = sum / side;
  let along = 0;
  for (const area of areas) {
    const length = thickness > 0 ? area / thickness : 0;
    boxes.push(
      isWide
        ? { x: free.x, y: free.y + along, width: thickness, height: length }
        : { x: free.x + along, y: free.y, width: length, height: thickness },
    );
    along += length;
  }
  return isWide
    ? { ...free, x: free.x + thickness, width: Math.max(free.width - thickness, 0) }
    : { ...free, y: free.y + thickness, height: Math.max(free.height - thickness, 0) };
}
