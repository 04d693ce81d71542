import { make } from './elements.ts';
import type { EventList } from './event-list.ts';
import { showPath, toVisible } from './names.ts';
import { formatCount } from './sections.ts';

const MAX_PRINTED = 400;

/** On paper nothing scrolls and nothing unfolds: for the time of printing, the list is a plain table. */
export function preparePrint(events: EventList): void {
  let table: HTMLElement | undefined;
  window.addEventListener('beforeprint', () => {
    table?.remove();
    table = makePrinted(events);
    events.element.append(table);
  });
  window.addEventListener('afterprint', () => table?.remove());
}

function makePrinted(events: EventList): HTMLElement {
  const { rows, left } = events.listShown(MAX_PRINTED);
  return make('div', { class: 'paper-only' }, [
    make('table', { 'aria-label': 'Events' }, [
      make('thead', {}, [
        make(
          'tr',
          {},
          ['#', 'Operation', 'What', 'Outcome'].map((title) =>
            make('th', { scope: 'col' }, [title]),
          ),
        ),
      ]),
      make(
        'tbody',
        {},
        rows.map(({ seq, op, path, outcome, outcomeClass }) =>
          make('tr', {}, [
            make('td', {}, [String(seq)]),
            make('td', {}, [toVisible(op, 40)]),
            make('td', {}, [showPath(path)]),
            make('td', {}, [
              outcomeClass === 'refused'
                ? `refused (${toVisible(outcome, 30)})`
                : toVisible(outcome, 30),
            ]),
          ]),
        ),
      ),
    ]),
    left === 0
      ? undefined
      : make('p', {}, [
          `${formatCount(left, 'more event is', 'more events are')} in the bundle, not on this paper.`,
        ]),
  ]);
}
