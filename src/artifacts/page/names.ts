import { make, makeButton } from './elements.ts';

/*
 * Names come from the program inside. What one cannot see is shown by its number: controls, marks that turn the
 * direction of text, zero-width and other unseen characters, and spaces that are not the space.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\uffa0]|[\ufe00-\ufe0f]|(?! )\p{Zs}/gu;

const MAX_SHOWN = 160;

/** The text with unseen characters spelt out, for places that take only text, such as labels for screen readers. */
export function toVisible(text: string, max = MAX_SHOWN): string {
  return cutMiddle(text, max)
    .parts.map((part) => part.replace(UNSEEN, spell))
    .join(' … ');
}

/** For text of several lines that is ours but holds names, such as JSON with white space. */
export function toVisibleLines(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' ? character : spell(character)));
}

function spell(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

export interface ShowOptions {
  /** Longer names lose their middle. */
  readonly max?: number;
  /** Offers the whole name; not in places that are buttons themselves. */
  readonly canExpand?: boolean;
}

/** A name as an element that keeps its direction to itself. */
export function showName(text: string, options: ShowOptions = {}): HTMLElement {
  const { max = MAX_SHOWN, canExpand = false } = options;
  const shown = make('bdi', { class: 'name' });
  const { parts, left } = cutMiddle(text, max);
  if (text === '') shown.append(make('span', { class: 'unseen' }, ['(empty)']));
  parts.forEach((part, at) => {
    if (at > 0) {
      const note = `… ${left.toLocaleString('en-US')} more characters …`;
      shown.append(
        canExpand
          ? makeButton(note, () => replaceByWhole(shown, text), { class: 'expand' })
          : make('span', { class: 'unseen' }, [' … ']),
      );
    }
    appendSeen(shown, part);
  });
  return shown;
}

function replaceByWhole(shown: HTMLElement, text: string): void {
  shown.replaceChildren();
  appendSeen(shown, text);
}

function appendSeen(element: HTMLElement, text: string): void {
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    element.append(text.slice(from, found.index));
    element.append(make('span', { class: 'unseen' }, [spell(found[0])]));
    from = found.index + found[0].length;
  }
  element.append(text.slice(from));
}

function cutMiddle(text: string, max: number): { parts: readonly string[]; left: number } {
  if (text.length <= max) return { parts: [text], left: 0 };
  const head = wholeCharacters(text, Math.ceil(max * 0.6));
  const tail = wholeCharacters(text, text.length - Math.floor(max * 0.4));
  return { parts: [text.slice(0, head), text.slice(tail)], left: tail - head };
}

/** Not between the halves of one character. */
function wholeCharacters(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** `/usr/bin/` and `git`. */
export function splitPath(path: string): { directory: string; base: string } {
  const slash = path.lastIndexOf('/', path.length - 2);
  return { directory: path.slice(0, slash + 1), base: path.slice(slash + 1) };
}

/** A path with its last part in front of the eye. */
export function showPath(path: string, options: ShowOptions = {}): HTMLElement {
  const { directory, base } = splitPath(path);
  if (path.length > (options.max ?? MAX_SHOWN) || directory === '') return showName(path, options);
  const shown = make('bdi', { class: 'name' });
  const faint = make('span', { class: 'directory' });
  appendSeen(faint, directory);
  shown.append(faint);
  appendSeen(shown, base);
  return shown;
}
