import { CATEGORIES, type Category, CATEGORY_TITLES } from './categories.ts';
import { draw, make, makeButton } from './elements.ts';
import { type FileNode, listChildren, makeFileTree, nameInside, skipSingle } from './file-tree.ts';
import type { Row } from './model.ts';
import { showName, toVisible } from './names.ts';
import { formatCount } from './sections.ts';
import { type Box, squarify } from './squarify.ts';
import { inset, writeLabel } from './treemap-shapes.ts';

export interface TreemapOptions {
  readonly rows: readonly Row[];
  /** For a single file, which has nothing below. */
  readonly onPick: (path: string) => void;
}

const STEPS: ReadonlyMap<string, number> = new Map([
  ['ArrowRight', 1],
  ['ArrowDown', 1],
  ['ArrowLeft', -1],
  ['ArrowUp', -1],
  ['Home', -Infinity],
  ['End', Infinity],
]);

const MAX_CELLS = 120;
const MAX_DRAWN = 2500;
const HEADER = 20;
const MAX_INNER_DEPTH = 4;

/** Touched files by directory: area is their number, colour what was done. One level at a time can be entered. */
export class Treemap {
  readonly element: HTMLElement;
  readonly #rows: readonly Row[];
  readonly #onPick: (path: string) => void;
  readonly #hidden = new Set<Category>(['failed']);
  readonly #crumbs = make('nav', { class: 'crumbs', 'aria-label': 'Directory shown' });
  readonly #legend = make('div', {
    class: 'legend',
    role: 'group',
    'aria-label': 'Operations shown',
  });
  readonly #canvas = make('div', { class: 'treemap' });
  readonly #list = make('ul', { class: 'treemap-list' });
  readonly #hasSystem: boolean;
  #withSystem = false;
  #root: FileNode;
  #node: FileNode;
  #drawn = 0;
  #width = 0;

  constructor({ rows, onPick }: TreemapOptions) {
    this.#rows = rows;
    this.#onPick = onPick;
    this.#hasSystem = rows.some(({ isSystem }) => isSystem);
    // Where a run touched nothing but the system, that is what there is to see.
    this.#withSystem = !rows.some(({ kind, isSystem }) => kind === 'file' && !isSystem);
    this.#root = this.#makeTree();
    this.#node = skipSingle(this.#root);
    this.element = make('div', {}, [
      this.#legend,
      this.#crumbs,
      this.#canvas,
      make('details', { class: 'as-list' }, [
        make('summary', {}, ['The same as a list']),
        this.#list,
      ]),
    ]);
    this.#canvas.addEventListener('keydown', (event) => this.#onKey(event));
    // Drawn for the width that there is.
    new ResizeObserver(() => {
      if (Math.floor(this.#canvas.clientWidth) !== this.#width) this.draw();
    }).observe(this.#canvas);
    this.#refresh();
  }

  #makeTree(): FileNode {
    return makeFileTree(this.#rows, (row) => this.#withSystem || !row.isSystem);
  }

  #refresh(): void {
    this.#drawLegend();
    this.#drawCrumbs();
    this.draw();
    this.#drawList();
  }

  #weigh(node: FileNode): number {
    let weight = 0;
    for (const [category, count] of node.counts) if (!this.#hidden.has(category)) weight += count;
    return weight;
  }

  #listShown(node: FileNode): FileNode[] {
    return listChildren(node)
      .filter((child) => this.#weigh(child) > 0)
      .sort((a, b) => this.#weigh(b) - this.#weigh(a) || rankOf(a) - rankOf(b));
  }

  #drawLegend(): void {
    const buttons = CATEGORIES.filter((category) => this.#root.counts.has(category)).map(
      (category) =>
        this.#makeSwitch({
          text: `${CATEGORY_TITLES[category]} ${(this.#root.counts.get(category) ?? 0).toLocaleString('en-US')}`,
          category,
          isOn: !this.#hidden.has(category),
          toggle: () => {
            if (!this.#hidden.delete(category)) this.#hidden.add(category);
          },
        }),
    );
    if (this.#hasSystem)
      buttons.push(
        this.#makeSwitch({
          text: 'System files',
          isOn: this.#withSystem,
          toggle: () => {
            this.#withSystem = !this.#withSystem;
            this.#root = this.#makeTree();
            this.#node = skipSingle(this.#root);
          },
        }),
      );
    this.#legend.replaceChildren(...buttons);
  }

  #makeSwitch(options: {
    readonly text: string;
    readonly category?: Category;
    readonly isOn: boolean;
    readonly toggle: () => void;
  }): HTMLButtonElement {
    const { text, category, isOn, toggle } = options;
    const onClick = (): void => {
      const at = Array.from(this.#legend.children).indexOf(button);
      toggle();
      this.#refresh();
      (this.#legend.children[at] as HTMLElement | undefined)?.focus();
    };
    const button = makeButton(text, onClick, { class: 'chip', 'aria-pressed': String(isOn) });
    if (category) button.prepend(make('span', { class: `swatch op-${category}` }));
    return button;
  }

  #drawCrumbs(): void {
    const chain: FileNode[] = [];
    for (let at: FileNode | undefined = this.#node; at; at = at.parent) chain.unshift(at);
    // Those that were skipped on the way down are no place to go back to.
    const stops = chain.filter((node) => node === this.#root || skipSingle(node) === node);
    this.#crumbs.replaceChildren(
      ...stops.flatMap((node, at) => {
        const outer = stops[at - 1];
        const isLast = node === this.#node;
        const button = makeButton('', () => this.#enter(node), {
          class: 'crumb',
          ...(isLast ? { 'aria-current': 'location' } : {}),
        });
        button.append(outer ? showName(nameInside(node, outer), { max: 60 }) : 'All files');
        return at === 0 ? [button] : [make('span', { 'aria-hidden': 'true' }, ['›']), button];
      }),
    );
  }

  #enter(node: FileNode): void {
    if (node.children.size === 0) {
      this.#onPick(node.path);
      return;
    }
    this.#node = node === this.#root ? skipSingle(node) : node;
    this.#refresh();
    this.#focusFirst();
  }

  #focusFirst(): void {
    this.#canvas.querySelector<SVGElement>('[tabindex="0"]')?.focus();
  }

  #leave(): void {
    let at = this.#node.parent;
    while (at?.parent && skipSingle(at) !== at) at = at.parent;
    if (at) this.#enter(at);
  }

  /** Nothing before it stands in a page, and has a width. */
  draw(): void {
    const width = (this.#width = Math.floor(this.#canvas.clientWidth));
    if (width === 0) return;
    const focused = this.#canvas.contains(document.activeElement);
    const height = Math.round(Math.min(Math.max(width * 0.45, 260), 460));
    const all = this.#listShown(this.#node);
    if (all.length === 0) {
      this.#canvas.replaceChildren(
        make('p', { class: 'empty' }, ['There is no such file to show.']),
      );
      return;
    }
    const nodes = all.slice(0, MAX_CELLS);
    const rest = all.slice(MAX_CELLS);
    const weights = nodes.map((node) => this.#weigh(node));
    if (rest.length > 0) weights.push(rest.reduce((sum, node) => sum + this.#weigh(node), 0));
    const boxes = squarify(weights, { x: 0, y: 0, width, height });
    const svg = draw('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'group',
      'aria-label':
        'Treemap of touched files. Arrow keys move, Enter goes deeper, Backspace goes back.',
    });
    this.#drawn = 0;
    nodes.forEach((node, at) => {
      const box = boxes[at];
      if (box) svg.append(this.#drawCell(node, box, at));
    });
    const last = boxes[nodes.length];
    if (rest.length > 0 && last)
      svg.append(
        draw('g', { class: 'cell' }, [
          draw('rect', { class: 'op-rest', ...inset(last, 1) }),
          ...writeLabel(last, `${rest.length} more`),
        ]),
      );
    this.#canvas.replaceChildren(svg);
    if (focused) this.#focusFirst();
  }

  #drawCell(node: FileNode, box: Box, at: number): SVGGElement {
    const cell = draw('g', {
      class: 'cell',
      role: 'button',
      tabindex: at === 0 ? 0 : -1,
      'data-at': at,
      'aria-label': this.#describe(node, this.#node),
    });
    cell.append(
      draw('title', {}, [this.#describe(node, this.#node)]),
      ...this.#fill({ node, outer: this.#node, box, depth: 0 }),
      draw('rect', { class: 'cell-frame', ...inset(box, 1.5), rx: 3 }),
    );
    cell.addEventListener('click', () => this.#enter(node));
    return cell;
  }

  #fill(options: {
    readonly node: FileNode;
    readonly outer: FileNode;
    readonly box: Box;
    readonly depth: number;
  }): SVGElement[] {
    const { node, outer, box, depth } = options;
    const isRoomy = box.width > 64 && box.height > 48;
    const children = node.children.size > 0 && isRoomy ? this.#listShown(node) : [];
    if (
      children.length === 0 ||
      depth >= MAX_INNER_DEPTH ||
      this.#drawn + children.length > MAX_DRAWN ||
      (box.width * box.height) / children.length < 30
    )
      return [...this.#fillPlain(node, box), ...writeLabel(inset(box, 1), nameInside(node, outer))];
    const frame = inset(box, depth === 0 ? 1 : 1.5);
    const inner = {
      x: frame.x + 2,
      y: frame.y + HEADER - 2,
      width: Math.max(frame.width - 4, 0),
      height: Math.max(frame.height - HEADER, 0),
    };
    const boxes = squarify(
      children.map((child) => this.#weigh(child)),
      inner,
    );
    return [
      draw('rect', { class: 'cell-ground', ...frame, rx: 3 }),
      ...writeLabel(frame, nameInside(node, outer), this.#weigh(node)),
      ...children.flatMap((child, at) => {
        const childBox = boxes[at];
        return childBox
          ? this.#fill({ node: child, outer: node, box: childBox, depth: depth + 1 })
          : [];
      }),
    ];
  }

  /** One block for each operation, side by side. */
  #fillPlain(node: FileNode, box: Box): SVGElement[] {
    const shown = CATEGORIES.filter(
      (category) => node.counts.has(category) && !this.#hidden.has(category),
    );
    const total = this.#weigh(node);
    const isWide = box.width >= box.height;
    let along = 0;
    return shown.map((category) => {
      const share = (node.counts.get(category) ?? 0) / total;
      const part = isWide
        ? { ...box, x: box.x + along * box.width, width: share * box.width }
        : { ...box, y: box.y + along * box.height, height: share * box.height };
      along += share;
      this.#drawn += 1;
      const gap = Math.min(part.width, part.height) > 6 ? 1 : 0.25;
      return draw('rect', { class: `op-${category}`, ...inset(part, gap), rx: gap === 1 ? 2 : 0 });
    });
  }

  #describe(node: FileNode, outer: FileNode): string {
    const counts = CATEGORIES.filter((category) => node.counts.has(category)).map(
      (category) =>
        `${node.counts.get(category)?.toLocaleString('en-US')} ${CATEGORY_TITLES[category].toLowerCase()}`,
    );
    const name = toVisible(nameInside(node, outer));
    return node.children.size === 0
      ? `${name}: ${counts.join(', ').replace(/^1 /, '')}`
      : `${name}: ${formatCount(node.total, 'file')} (${counts.join(', ')})`;
  }

  #drawList(): void {
    const nodes = this.#listShown(this.#node).slice(0, MAX_CELLS);
    this.#list.replaceChildren(
      ...nodes.map((node) => {
        const button = makeButton('', () => this.#enter(node), { class: 'link' });
        button.append(showName(nameInside(node, this.#node)));
        return make('li', {}, [
          button,
          make('span', { class: 'faint' }, [
            this.#describe(node, this.#node).slice(
              toVisible(nameInside(node, this.#node)).length + 1,
            ),
          ]),
        ]);
      }),
    );
  }

  #onKey(event: KeyboardEvent): void {
    const cells = Array.from(this.#canvas.querySelectorAll<SVGElement>('.cell[data-at]'));
    const at = cells.indexOf(document.activeElement as SVGElement);
    const node = this.#listShown(this.#node)[at];
    const step = STEPS.get(event.key);
    if (step !== undefined && cells.length > 0) {
      const next = cells[Math.min(Math.max(at + step, 0), cells.length - 1)];
      cells.forEach((cell) => cell.setAttribute('tabindex', cell === next ? '0' : '-1'));
      next?.focus();
    } else if ((event.key === 'Enter' || event.key === ' ') && node) this.#enter(node);
    else if (event.key === 'Backspace' || event.key === 'Escape') this.#leave();
    else return;
    event.preventDefault();
  }
}

/** Of what was done there, the gravest. */
function rankOf({ counts }: FileNode): number {
  return CATEGORIES.findIndex((category) => counts.has(category));
}
