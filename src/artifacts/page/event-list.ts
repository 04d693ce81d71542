import { make, makeButton } from './elements.ts';
import { applyFilter, countKinds, type Filter, NO_FILTER } from './filter.ts';
import { type Kind, KINDS, type Row } from './model.ts';
import { showName, showPath, splitPath, toVisible, toVisibleLines } from './names.ts';
import { formatDuration } from './overview.ts';
import { formatCount, makeSection } from './sections.ts';
import { showOutcome } from './tables.ts';
import { VirtualRows } from './virtual-rows.ts';

const KIND_TITLES: Readonly<Record<Kind, string>> = {
  file: 'Files',
  program: 'Programs',
  network: 'Network',
  change: 'Changes',
  degradation: 'Degradations',
  limit: 'Limits',
  folded: 'Folded',
  other: 'Other',
};

const OUTCOMES = [
  ['all', 'Any outcome'],
  ['ok', 'Succeeded'],
  ['refused', 'Refused'],
  ['failed', 'Failed otherwise'],
] as const;

const COLUMNS = ['#', 'After', 'Kind', 'Operation', 'What', 'Outcome', 'Program'];

/** Every event, with search and filters. */
export class EventList {
  readonly element: HTMLElement;
  readonly #rows: readonly Row[];
  readonly #startMs: number;
  readonly #search = make('input', {
    id: 'search',
    type: 'search',
    placeholder: 'Path, program, rule, operation …',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'search-count',
  });
  readonly #outcome = make('select', { id: 'outcome', 'aria-label': 'Outcome' });
  readonly #count = make('p', {
    id: 'search-count',
    class: 'count-line',
    role: 'status',
    'aria-live': 'polite',
  });
  readonly #kinds = new Map<Kind, HTMLButtonElement>();
  readonly #system: HTMLButtonElement | undefined;
  readonly #details = make('div', { class: 'event-details', 'aria-live': 'polite' });
  readonly #virtual: VirtualRows;
  #filter: Filter = NO_FILTER;
  #shown: Uint32Array;

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
    this.#startMs = rows.reduce((first, { ms }) => (ms < first ? ms : first), Infinity);
    this.#shown = applyFilter(rows, this.#filter);
    this.#virtual = new VirtualRows({
      label: 'Events',
      columns: COLUMNS,
      makeCells: (at) => this.#makeCells(at),
      onOpen: (at) => this.#open(at),
    });
    const counts = countKinds(rows);
    for (const kind of KINDS) {
      const count = counts.get(kind);
      if (count === undefined) continue;
      const text = `${KIND_TITLES[kind]} ${count.toLocaleString('en-US')}`;
      this.#kinds.set(
        kind,
        makeButton(text, () => this.#toggleKind(kind), { class: 'chip', 'aria-pressed': 'false' }),
      );
    }
    const systemCount = rows.filter(({ isSystem }) => isSystem).length;
    if (systemCount > 0)
      this.#system = makeButton(
        `with ${formatCount(systemCount, 'system read')}`,
        () => this.set({ withSystem: !this.#filter.withSystem }),
        { class: 'chip', 'aria-pressed': 'false' },
      );
    this.element = this.#makeElement();
    this.#refresh();
  }

  #makeElement(): HTMLElement {
    for (const [value, title] of OUTCOMES) this.#outcome.append(make('option', { value }, [title]));
    this.#outcome.addEventListener('change', () =>
      this.set({ outcome: this.#outcome.value as Filter['outcome'] }),
    );
    this.#search.addEventListener('input', () => this.set({ text: this.#search.value }));
    return makeSection(
      {
        id: 'events',
        title: 'Events',
        note: 'All of it. Press / to search, arrow keys to move, Enter to see an event as it stands in the bundle.',
      },
      [
        make('div', { class: 'filters' }, [
          make('label', { for: 'search', class: 'search' }, ['Search', this.#search]),
          this.#outcome,
          makeButton('Clear', () => this.set(NO_FILTER), { class: 'plain-button' }),
        ]),
        make('div', { class: 'chips', role: 'group', 'aria-label': 'Kinds of events' }, [
          ...this.#kinds.values(),
          this.#system,
        ]),
        this.#count,
        this.#virtual.element,
        this.#details,
      ],
    );
  }

  /** Narrows the list, or widens it. */
  set(change: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...change };
    this.#shown = applyFilter(this.#rows, this.#filter);
    this.#refresh();
  }

  /** For other parts of the page: shows what there is about one thing. */
  showOnly(text: string, change: Partial<Filter> = {}): void {
    this.set({ ...NO_FILTER, text, withSystem: true, ...change });
    this.element.scrollIntoView({ block: 'start' });
    this.#search.focus({ preventScroll: true });
  }

  focusSearch(): void {
    this.element.scrollIntoView({ block: 'start' });
    this.#search.focus({ preventScroll: true });
    this.#search.select();
  }

  /** Those that pass, for paper. */
  listShown(max: number): { rows: readonly Row[]; left: number } {
    const rows = Array.from(this.#shown.subarray(0, max)).flatMap((at) => this.#rows[at] ?? []);
    return { rows, left: this.#shown.length - rows.length };
  }

  #toggleKind(kind: Kind): void {
    const kinds = new Set(this.#filter.kinds);
    if (!kinds.delete(kind)) kinds.add(kind);
    this.set({ kinds });
  }

  #refresh(): void {
    const { kinds, outcome, text, withSystem } = this.#filter;
    if (this.#search.value !== text) this.#search.value = text;
    this.#outcome.value = outcome;
    for (const [kind, button] of this.#kinds)
      button.setAttribute('aria-pressed', String(kinds.has(kind)));
    this.#system?.setAttribute('aria-pressed', String(withSystem));
    this.#count.textContent = `${this.#shown.length.toLocaleString('en-US')} of ${formatCount(this.#rows.length, 'event')}`;
    this.#details.replaceChildren();
    this.#virtual.show(this.#shown.length);
  }

  #rowAt(at: number): Row | undefined {
    return this.#rows[this.#shown[at] ?? -1];
  }

  #makeCells(at: number): Node[] {
    const row = this.#rowAt(at);
    if (!row) return [];
    const what = make('span', {}, [showPath(row.path, { max: 300 })]);
    if (row.target !== '') what.append(' → ', showPath(row.target, { max: 200 }));
    return [
      make('span', {}, [String(row.seq)]),
      make('span', {}, [Number.isFinite(row.ms) ? formatDuration(row.ms - this.#startMs) : '']),
      make('span', {}, [row.kind]),
      make('span', {}, [toVisible(row.op, 30)]),
      what,
      make('span', {}, [showOutcome(row)]),
      make('span', {}, [
        row.program === '' ? '' : showName(splitPath(row.program).base, { max: 40 }),
      ]),
    ];
  }

  #open(at: number): void {
    const row = this.#rowAt(at);
    if (!row) return;
    this.#details.replaceChildren(
      make('div', { class: 'card' }, [
        make('header', {}, [
          make('h3', {}, [`Event ${row.seq}`]),
          makeButton('Close', () => this.#details.replaceChildren(), { class: 'plain-button' }),
        ]),
        make('pre', { class: 'json', tabindex: '0', 'aria-label': `Event ${row.seq} as JSON` }, [
          toVisibleLines(JSON.stringify(row.event, null, 2)),
        ]),
      ]),
    );
  }
}
