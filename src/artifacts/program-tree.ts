import type { Evidence } from '../evidence/evidence.ts';
import { code, plural } from './markdown.ts';

const MAX_LINES = 200;
const MAX_SCRIPTS = 3;

/** Which program started which. One that was started by several stands under each, with its own below the first only. */
export function drawPrograms({ entries, run }: Evidence): string[] {
  const children = new Map<string, string[]>();
  for (const [image, { parents }] of Object.entries(entries.processes))
    for (const parent of parents) {
      const known = children.get(parent);
      if (known) known.push(image);
      else children.set(parent, [image]);
    }
  const lines: string[] = [];
  const drawn = new Set<string>();
  const draw = (image: string, depth: number): void => {
    if (lines.length >= MAX_LINES) return;
    const own = children.get(image) ?? [];
    const isAgain = drawn.has(image) && own.length > 0;
    drawn.add(image);
    lines.push(`${'  '.repeat(depth)}- ${describe(image)}${isAgain ? ' (see above)' : ''}`);
    if (!isAgain) for (const child of own) draw(child, depth + 1);
  };
  const describe = (image: string): string => {
    const { scripts = [], digests = [] } = entries.processes[image] ?? {};
    const starts = Object.hasOwn(run.starts, image) ? (run.starts[image] ?? 1) : 1;
    const notes = [
      ...(starts > 1 ? [`started ${starts} times`] : []),
      ...scripts.slice(0, MAX_SCRIPTS).map((script) => `runs ${code(script)}`),
      ...(scripts.length > MAX_SCRIPTS
        ? [`and ${plural(scripts.length - MAX_SCRIPTS, 'more script')}`]
        : []),
      ...(digests.length === 0 ? ['made in the run, or not hashed'] : []),
    ];
    return `${code(image)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
  };
  for (const image of children.get('assay') ?? []) draw(image, 0);
  const lost = Object.keys(entries.processes).filter((image) => !drawn.has(image));
  for (const image of lost) draw(image, 0);
  if (lines.length >= MAX_LINES) lines.push('- … more are in the evidence');
  return lines;
}
