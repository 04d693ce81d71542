/*
 * The only place where elements are made. Tags and attribute names are closed lists, and text becomes text nodes: what
 * a program inside has named itself cannot become markup, a link or a handler.
 */

const SVG = 'http://www.w3.org/2000/svg';

type Tag =
  | 'a'
  | 'article'
  | 'b'
  | 'bdi'
  | 'button'
  | 'code'
  | 'dd'
  | 'details'
  | 'div'
  | 'dl'
  | 'dt'
  | 'h1'
  | 'h2'
  | 'h3'
  | 'header'
  | 'input'
  | 'label'
  | 'li'
  | 'nav'
  | 'ol'
  | 'option'
  | 'p'
  | 'pre'
  | 'progress'
  | 'section'
  | 'select'
  | 'span'
  | 'strong'
  | 'summary'
  | 'table'
  | 'tbody'
  | 'td'
  | 'th'
  | 'thead'
  | 'time'
  | 'tr'
  | 'ul';

type SvgTag = 'circle' | 'g' | 'line' | 'path' | 'rect' | 'svg' | 'text' | 'title';

type AttributeName =
  | 'id'
  | 'class'
  | 'title'
  | 'role'
  | 'type'
  | 'for'
  | 'value'
  | 'placeholder'
  | 'scope'
  | 'colspan'
  | 'tabindex'
  | 'autocomplete'
  | 'spellcheck'
  | 'datetime'
  | 'max'
  | 'open'
  | 'data-tone'
  | 'data-depth'
  | `aria-${string}`;

type SvgAttributeName =
  | 'class'
  | 'role'
  | 'tabindex'
  | 'viewBox'
  | 'width'
  | 'height'
  | 'x'
  | 'y'
  | 'x1'
  | 'x2'
  | 'y1'
  | 'y2'
  | 'cx'
  | 'cy'
  | 'r'
  | 'rx'
  | 'd'
  | 'focusable'
  | 'preserveAspectRatio'
  | 'data-at'
  | `aria-${string}`;

type Child = Node | string | undefined;

/** A link leads to a part of this page, and nowhere else. */
type Attributes = Partial<Record<AttributeName, string>> & { readonly href?: `#${string}` };

/** Text of ours may be given as a string; names from the bundle come through `showName`. */
export function make<K extends Tag>(
  tag: K,
  attributes: Attributes = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, value);
  add(element, children);
  return element;
}

export function draw<K extends SvgTag>(
  tag: K,
  attributes: Partial<Record<SvgAttributeName, string | number>> = {},
  children: readonly Child[] = [],
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  add(element, children);
  return element;
}

function add(element: Element, children: readonly Child[]): void {
  for (const child of children) if (child !== undefined) element.append(child);
}

export function makeButton(
  text: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const button = make('button', { type: 'button', ...attributes }, [text]);
  button.addEventListener('click', onClick);
  return button;
}

/** An element of the shell, which is fixed. */
export function find(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no part "${id}"`);
  return element;
}

/** A word with a colour that says whether it is good. */
export function makePill(text: string, tone: string): HTMLElement {
  return make('span', { class: 'pill', 'data-tone': tone }, [text]);
}
