import { make, makeButton } from './elements.ts';
import type { RunModel } from './model.ts';

export interface SectionOptions {
  readonly id: SectionId;
  readonly title: string;
  /** One sentence under the title. */
  readonly note?: string | undefined;
}

/** In the order of the page. */
export const SECTIONS = {
  programs: 'Programs',
  files: 'Files',
  network: 'Network',
  refusals: 'Refusals',
  changes: 'Changes',
  coverage: 'Coverage',
  policy: 'Policy',
  environment: 'Environment',
  events: 'Events',
  verification: 'Verification',
} as const;
export type SectionId = keyof typeof SECTIONS;

export function makeSection(
  { id, title, note }: SectionOptions,
  children: readonly (Node | undefined)[],
): HTMLElement {
  return make(
    'section',
    { id, class: 'section', 'aria-labelledby': `${id}-title`, tabindex: '-1' },
    [
      make('header', { class: 'section-head' }, [
        make('h2', { id: `${id}-title` }, [
          title,
          // Seen only where the bundle is not intact.
          make('span', { class: 'unverified-mark' }, ['unverified']),
        ]),
        note === undefined ? undefined : make('p', { class: 'note' }, [note]),
      ]),
      ...children,
    ],
  );
}

/** What stands where there is nothing to show. Of a bundle that was not read to its end, nothing can be said. */
export function makeEmpty({ isPartial }: Pick<RunModel, 'isPartial'>, text: string): HTMLElement {
  return make('p', { class: 'empty' }, [
    isPartial ? 'Nothing of this was read before the check failed.' : text,
  ]);
}

export interface TableOptions<T> {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly items: readonly T[];
  readonly makeCells: (item: T) => readonly (Node | string)[];
}

const FIRST_ROWS = 60;
const MORE_ROWS = 500;

/** A table that grows when asked to, so that a long list does not hold up the page. */
export function makeTable<T>({ caption, columns, items, makeCells }: TableOptions<T>): HTMLElement {
  const body = make('tbody');
  const wrap = make('div', { class: 'table-wrap', role: 'group', 'aria-label': caption }, [
    make('table', { 'aria-label': caption }, [
      make('thead', {}, [
        make(
          'tr',
          {},
          columns.map((column) => make('th', { scope: 'col' }, [column])),
        ),
      ]),
      body,
    ]),
  ]);
  growList({
    items,
    container: body,
    after: wrap,
    makeItem: (item) =>
      make(
        'tr',
        {},
        // The title of the column stands before the cell where the screen is narrow.
        makeCells(item).map((cell, at) =>
          make('td', {}, [
            make('span', { class: 'cell-title', 'aria-hidden': 'true' }, [columns[at] ?? '']),
            cell,
          ]),
        ),
      ),
  });
  return wrap;
}

export interface GrowOptions<T> {
  readonly items: readonly T[];
  readonly container: HTMLElement;
  /** Where the button goes. */
  readonly after: HTMLElement;
  readonly makeItem: (item: T) => Node;
}

export function growList<T>({ items, container, after, makeItem }: GrowOptions<T>): void {
  let shown = 0;
  const grow = (count: number): void => {
    container.append(...items.slice(shown, shown + count).map(makeItem));
    shown = Math.min(shown + count, items.length);
    more.hidden = shown >= items.length;
    more.textContent = `Show ${Math.min(MORE_ROWS, items.length - shown)} more of ${(items.length - shown).toLocaleString('en-US')}`;
  };
  const more = makeButton('', () => grow(MORE_ROWS), { class: 'more' });
  after.append(more);
  grow(FIRST_ROWS);
}

export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}
