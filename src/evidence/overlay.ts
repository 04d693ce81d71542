/**
 * The tree as the run left it, as far as its events tell: what was touched, where it was before the run, and whether
 * it is still there. What no event speaks of is not in it, and is as it was.
 */
export interface OverlayNode {
  parent: OverlayNode | null;
  name: string;
  children: Map<string, OverlayNode> | null;
  /** Its path before the run; null for what was born in it. A place without anything has none either. */
  origin: string | null;
  isThere: boolean;
  /** Whether an event has spoken of it; the others were only passed through on the way to something below. */
  isTouched: boolean;
  isDirectory: boolean;
  /** Known to be no directory, so that nothing is below it. */
  isFile: boolean;
  /** Shared by the hard links of one file; null while there is nothing to say about it. */
  content: Content | null;
}

export interface Content {
  /** Where it was before the run; null when it was born in it. */
  readonly origin: string | null;
  isWritten: boolean;
  hasNewAttributes: boolean;
}

export class Overlay {
  readonly #root: OverlayNode = makeNode({ parent: null, name: '', origin: '/', isThere: true });
  /** Of paths before the run, by the first event that tells. */
  readonly #before = new Map<string, boolean>();
  /** Directories as they were before the run, or when they went. */
  readonly #directories = new Set<string>();
  /** Paths at which there was a directory at some time of the run. */
  readonly #seenDirectories = new Set<string>();

  get before(): ReadonlyMap<string, boolean> {
    return this.#before;
  }

  wasDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  /** As it is now; where the events did not tell how something came back, as it was last seen. */
  isDirectory(path: string): boolean {
    const node = this.find(path);
    return node?.isThere ? node.isDirectory : this.#seenDirectories.has(path);
  }

  /** Its path before the run, of what no event has spoken of yet; null when it is not known to have been there. */
  originOf(path: string): string | null {
    const { isTouched, origin } = this.#locate(path);
    return isTouched ? null : origin;
  }

  /** Something is there: it is read, written, removed. */
  touch(path: string): OverlayNode {
    const node = this.#locate(path);
    this.#settle(node, true);
    // Nothing that we know of put it there; the call that did was one of many like it.
    if (!node.isThere) this.#bear(node);
    return node;
  }

  /** Something appears where nothing was, or, with `isReplacing`, in the place of something. */
  create(path: string, options: { isDirectory: boolean; isReplacing?: boolean }): OverlayNode {
    const node = this.#locate(path);
    this.#settle(node, options.isReplacing ?? false);
    this.#bear(node);
    node.isDirectory = options.isDirectory;
    if (options.isDirectory) this.#seenDirectories.add(path);
    return node;
  }

  remove(path: string, isDirectory: boolean): void {
    const node = this.touch(path);
    if (isDirectory) this.markDirectory(node);
    this.#bury(node);
  }

  link(path: string, target: string): void {
    const content = contentOf(this.touch(path));
    this.create(target, { isDirectory: false }).content = content;
  }

  rename(
    path: string,
    target: string,
    options: { isDirectory: boolean; isReplacing: boolean },
  ): void {
    if (options.isDirectory) this.#seenDirectories.add(path).add(target);
    const source = this.touch(path);
    this.#tellKind(source, options);
    const place = this.#locate(target);
    // A directory only ever takes the place of a directory.
    if (options.isDirectory && options.isReplacing) this.markDirectory(place);
    this.#settle(place, options.isReplacing);
    this.#move(source, target);
  }

  /** Each takes the place of the other. */
  exchange(path: string, target: string, options: { isDirectory: boolean }): void {
    const [one, other] = [this.touch(path), this.touch(target)];
    this.#tellKind(one, options);
    if (options.isDirectory) this.#seenDirectories.add(path).add(target);
    if (one === other || isBelow(one, other) || isBelow(other, one)) return;
    [one.parent, other.parent] = [other.parent, one.parent];
    [one.name, other.name] = [other.name, one.name];
    for (const node of [one, other]) node.parent?.children?.set(node.name, node);
  }

  /** The other half of an exchange, which is done: what came from `path` is at `target`. */
  noteReturn(path: string, target: string, options: { isDirectory: boolean }): void {
    this.#tellKind(this.touch(target), options);
    if (options.isDirectory) this.#seenDirectories.add(path).add(target);
  }

  /** What stands at a place now; undefined when no event spoke of it or of anything above that moved. */
  find(path: string): OverlayNode | undefined {
    let node: OverlayNode | undefined = this.#root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      node = node.children?.get(name);
      if (!node) return undefined;
    }
    return node;
  }

  isThere(path: string): boolean {
    let node = this.#root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      const child: OverlayNode | undefined = node.children?.get(name);
      if (!child) return node.isThere && node.origin !== null && !node.isFile;
      if (!child.isThere) return false;
      node = child;
    }
    return node.isThere;
  }

  *nodes(): Generator<{ path: string; node: OverlayNode }> {
    const stack: { path: string; node: OverlayNode }[] = [{ path: '', node: this.#root }];
    for (let top = stack.pop(); top; top = stack.pop()) {
      if (top.node.isTouched) yield { path: top.path || '/', node: top.node };
      for (const [name, node] of top.node.children ?? [])
        stack.push({ path: `${top.path}/${name}`, node });
    }
  }

  #locate(path: string): OverlayNode {
    let node = this.#root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      let child = node.children?.get(name);
      if (!child) {
        const { origin, isThere } = node;
        child = makeNode({
          parent: node,
          name,
          origin: origin === null || !isThere ? null : `${origin === '/' ? '' : origin}/${name}`,
          // Below what was born in the run, only events put things.
          isThere: isThere && origin !== null,
        });
        node.children ??= new Map();
        node.children.set(name, child);
      }
      node = child;
    }
    return node;
  }

  /** The first event about something that was not touched yet tells whether it was there before the run. */
  #settle(node: OverlayNode, isThere: boolean): void {
    if (node.isTouched) return;
    node.isTouched = true;
    if (node.origin === null) return;
    if (!this.#before.has(node.origin)) this.#before.set(node.origin, isThere);
  }

  markDirectory(node: OverlayNode): void {
    node.isDirectory = true;
    if (node.origin !== null) this.#directories.add(node.origin);
  }

  #tellKind(node: OverlayNode, { isDirectory }: { isDirectory: boolean }): void {
    if (isDirectory) this.markDirectory(node);
    else node.isFile = true;
  }

  #bear(node: OverlayNode): void {
    for (let above = node.parent; above && !above.isThere; above = above.parent) {
      above.isThere = true;
      above.origin = null;
      above.isDirectory = true;
    }
    node.isThere = true;
    node.origin = null;
    node.children = null;
    node.content = null;
  }

  #bury(node: OverlayNode): void {
    node.isThere = false;
    node.isTouched = true;
    node.origin = null;
    node.children = null;
  }

  #move(source: OverlayNode, target: string): void {
    const place = this.#locate(target);
    const { parent: from, name } = source;
    if (place === source || !from || !place.parent || isBelow(place, source)) return;
    for (
      let above: OverlayNode | null = place.parent;
      above && !above.isThere;
      above = above.parent
    )
      above.isThere = true;
    const grave = makeNode({ parent: from, name, origin: null, isThere: false });
    grave.isTouched = true;
    from.children?.set(name, grave);
    source.parent = place.parent;
    source.name = place.name;
    place.parent.children?.set(place.name, source);
  }
}

function isBelow(node: OverlayNode, other: OverlayNode): boolean {
  for (let at = node.parent; at; at = at.parent) if (at === other) return true;
  return false;
}

function makeNode(
  options: Pick<OverlayNode, 'parent' | 'name' | 'origin' | 'isThere'>,
): OverlayNode {
  return {
    ...options,
    children: null,
    isTouched: false,
    isDirectory: false,
    isFile: false,
    content: null,
  };
}

export function contentOf(node: OverlayNode): Content {
  node.content ??= { origin: node.origin, isWritten: false, hasNewAttributes: false };
  return node.content;
}
