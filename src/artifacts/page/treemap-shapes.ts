import { draw } from './elements.ts';
import { toVisible } from './names.ts';
import type { Box } from './squarify.ts';

export function inset({ x, y, width, height }: Box, by: number): Box {
  return {
    x: x + by,
    y: y + by,
    width: Math.max(width - 2 * by, 0),
    height: Math.max(height - 2 * by, 0),
  };
}

const CHARACTER = 6.6;

/** Only where there is room for a good part of it. The title of a directory has the number of files, if that fits too. */
export function writeLabel(box: Box, name: string, count?: number): SVGElement[] {
  const room = Math.floor((box.width - 12) / CHARACTER);
  if (room < 3 || box.height < 18) return [];
  const whole = toVisible(name, Math.max(room * 2, 20));
  const text =
    whole.length <= room
      ? whole
      : `${Array.from(whole)
          .slice(0, room - 1)
          .join('')}…`;
  const place = { x: box.x + 6, y: box.y + 14 };
  const title = draw(
    'text',
    { class: count === undefined ? 'cell-label' : 'cell-label on-ground', ...place },
    [text],
  );
  const figure = count?.toLocaleString('en-US') ?? '';
  if (figure === '' || text.length + figure.length + 2 > room) return [title];
  const end = { x: box.x + box.width - 6, y: place.y };
  return [title, draw('text', { class: 'cell-count', ...end }, [figure])];
}
