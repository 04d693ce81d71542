import { make } from './elements.ts';

export interface VirtualRowsOptions {
  readonly label: string;
  readonly columns: readonly string[];
  readonly makeCells: (at: number) => readonly Node[];
  readonly onOpen: (at: number) => void;
}

const ROW_PX = 32;
/** Engines stop at some tens of millions; beyond this, scrolling covers more than one row a row. */
const MAX_HEIGHT_PX = 10_000_000;
const MARGIN_ROWS = 8;

/** A grid of any length, of which only what is in view exists. */
export class VirtualRows {
  readonly element: HTMLElement;
  readonly #options: VirtualRowsOptions;
  readonly #body = make('div', { class: 'grid-body', role: 'rowgroup' });
  readonly #space = make('div', { class: 'grid-space', role: 'presentation' });
  readonly #scroller: HTMLElement;
  #count = 0;
  #active = 0;

  constructor(options: VirtualRowsOptions) {
    this.#options = options;
    const head = make(
      'div',
      { class: 'grid-row grid-head', role: 'row', 'aria-rowindex': '1' },
      options.columns.map((column) => make('span', { role: 'columnheader' }, [column])),
    );
    this.#space.append(this.#body);
    this.#scroller = make('div', { class: 'grid-scroller', role: 'presentation' }, [
      make('div', { class: 'grid-top', role: 'rowgroup' }, [head]),
      this.#space,
    ]);
    this.element = make(
      'div',
      {
        class: 'grid',
        role: 'grid',
        tabindex: '0',
        'aria-label': options.label,
        'aria-colcount': String(options.columns.length),
      },
      [this.#scroller],
    );
    this.#scroller.addEventListener('scroll', () => this.#draw(), { passive: true });
    this.#scroller.addEventListener('click', (event) => this.#onClick(event));
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    new ResizeObserver(() => this.#draw()).observe(this.#scroller);
  }

  show(count: number): void {
    this.#count = count;
    this.#active = 0;
    this.element.setAttribute('aria-rowcount', String(count + 1));
    this.#space.style.height = `${this.#height()}px`;
    this.#scroller.scrollTop = 0;
    this.#draw();
  }

  #height(): number {
    return Math.min(this.#count * ROW_PX, MAX_HEIGHT_PX);
  }

  /** Below the titles of the columns. */
  #viewHeight(): number {
    return Math.max(this.#scroller.clientHeight - ROW_PX, 0);
  }

  /** How many rows the view has passed, as a number that need not be whole. */
  #firstRow(): number {
    const view = this.#viewHeight();
    const way = this.#height() - view;
    if (way <= 0) return 0;
    const share = Math.min(this.#scroller.scrollTop / way, 1);
    return share * (this.#count - view / ROW_PX);
  }

  #draw(): void {
    const first = this.#firstRow();
    const from = Math.max(Math.floor(first) - MARGIN_ROWS, 0);
    const visible = Math.ceil(this.#viewHeight() / ROW_PX) + 1;
    const to = Math.min(Math.floor(first) + visible + MARGIN_ROWS, this.#count);
    const rows: HTMLElement[] = [];
    for (let at = from; at < to; at += 1) rows.push(this.#makeRow(at));
    this.#body.replaceChildren(...rows);
    this.#body.style.transform = `translateY(${this.#scroller.scrollTop - (first - from) * ROW_PX}px)`;
    this.#markActive();
  }

  #makeRow(at: number): HTMLElement {
    const cells = this.#options.makeCells(at);
    for (const cell of cells) if (cell instanceof Element) cell.setAttribute('role', 'gridcell');
    return make(
      'div',
      { class: 'grid-row', role: 'row', id: `row-${at}`, 'aria-rowindex': String(at + 2) },
      cells,
    );
  }

  #markActive(): void {
    for (const row of this.#body.children)
      row.setAttribute('aria-selected', String(row.id === `row-${this.#active}`));
    this.element.setAttribute('aria-activedescendant', `row-${this.#active}`);
  }

  #onClick(event: MouseEvent): void {
    const row = event.target instanceof Element ? event.target.closest('.grid-row') : null;
    if (!row) return;
    this.#active = Number(row.id.slice('row-'.length));
    this.#markActive();
    this.#options.onOpen(this.#active);
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(Math.floor(this.#viewHeight() / ROW_PX) - 1, 1);
    const steps = new Map([
      ['ArrowDown', 1],
      ['ArrowUp', -1],
      ['PageDown', page],
      ['PageUp', -page],
      ['Home', -this.#count],
      ['End', this.#count],
    ]);
    const step = steps.get(event.key);
    if (step !== undefined) this.#move(step);
    else if (event.key === 'Enter' && this.#count > 0) this.#options.onOpen(this.#active);
    else return;
    event.preventDefault();
  }

  #move(step: number): void {
    this.#active = Math.min(Math.max(this.#active + step, 0), Math.max(this.#count - 1, 0));
    const view = this.#viewHeight() / ROW_PX;
    const first = this.#firstRow();
    const wanted =
      this.#active < first
        ? this.#active
        : this.#active + 1 > first + view
          ? this.#active + 1 - view
          : first;
    if (wanted !== first) {
      const way = this.#height() - this.#viewHeight();
      this.#scroller.scrollTop = (wanted / Math.max(this.#count - view, 1)) * way;
    }
    this.#draw();
  }
}
