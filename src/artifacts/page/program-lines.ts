import type { Row } from './model.ts';

export interface ProgramLine {
  readonly image: string;
  readonly depth: number;
  readonly ms: number;
  readonly scripts: readonly string[];
  /** Its own programs stand where it came first. */
  readonly isAgain: boolean;
}

/** A walk through the edges "image started image", the earliest first. Cycles are usual: a shell starts a shell. */
export function listPrograms(rows: readonly Row[]): ProgramLine[] {
  const edges = new Map<string, Map<string, { ms: number; scripts: string[] }>>();
  const images = new Set<string>();
  for (const { kind, path, program, ms, target } of rows) {
    if (kind !== 'program') continue;
    images.add(path);
    const children = edges.get(program) ?? new Map<string, { ms: number; scripts: string[] }>();
    edges.set(program, children);
    const known = children.get(path) ?? { ms, scripts: [] };
    children.set(path, known);
    known.ms = Math.min(known.ms, ms);
    if (target !== '') known.scripts.push(target);
  }
  const lines: ProgramLine[] = [];
  const seen = new Set<string>();
  const walk = (start: string): void => {
    const stack = listStarted(edges, start, 0).reverse();
    while (stack.length > 0) {
      const next = stack.pop();
      if (!next) break;
      const isAgain = seen.has(next.image);
      seen.add(next.image);
      lines.push({ ...next, isAgain: isAgain && edges.has(next.image) });
      if (!isAgain) stack.push(...listStarted(edges, next.image, next.depth + 1).reverse());
    }
  };
  // First what assay started, then what was started by programs that are not in the bundle, then circles.
  walk('assay');
  for (const parent of edges.keys()) if (!images.has(parent) && parent !== 'assay') walk(parent);
  for (const parent of edges.keys()) if (!seen.has(parent) && parent !== 'assay') walk(parent);
  return lines;
}

function listStarted(
  edges: ReadonlyMap<string, ReadonlyMap<string, { ms: number; scripts: string[] }>>,
  parent: string,
  depth: number,
): ProgramLine[] {
  return Array.from(edges.get(parent) ?? [], ([image, { ms, scripts }]) => ({
    image,
    depth,
    ms,
    scripts,
    isAgain: false,
  })).sort((a, b) => a.ms - b.ms || (a.image < b.image ? -1 : 1));
}
