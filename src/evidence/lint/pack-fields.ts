import { findClosest } from '../../policy/did-you-mean.ts';
import { quote } from '../../policy/problems.ts';
import type { SourceNode } from '../../policy/source-node.ts';

export interface PackProblem {
  readonly offset: number;
  readonly problem: string;
  readonly hint?: string | undefined;
}

const MAX_TEXT = 20_000;
const MAX_ITEMS = 1000;

interface TextForm {
  /** What it has to look like, and how that is said. */
  readonly form?: RegExp;
  readonly like?: string;
}

/** The members of one map of a pack. Notes what is wrong, and goes on, so that all of it is known. */
export class PackFields {
  readonly #problems: PackProblem[];
  readonly #fields = new Map<string, SourceNode>();
  readonly #what: string;
  readonly offset: number;

  constructor(node: SourceNode, what: string, problems: PackProblem[]) {
    this.#problems = problems;
    this.#what = what;
    this.offset = node.offset;
    if (node.kind !== 'map') {
      problems.push({ offset: node.offset, problem: `${what} has to be a map` });
      return;
    }
    for (const { key, keyOffset, value } of node.pairs) {
      if (this.#fields.has(key))
        problems.push({ offset: keyOffset, problem: `${quote(key)} is there twice` });
      this.#fields.set(key, value);
    }
  }

  refuseUnknown(known: readonly string[]): void {
    for (const [key, { offset }] of this.#fields) {
      if (known.includes(key)) continue;
      const closest = findClosest(key, known);
      this.#problems.push({
        offset,
        problem: `${this.#what} has no field ${quote(key)}`,
        hint: closest === undefined ? `there are ${known.join(', ')}` : `did you mean ${closest}?`,
      });
    }
  }

  node(name: string): SourceNode | undefined {
    return this.#fields.get(name);
  }

  map(name: string): PackFields | undefined {
    const node = this.#require(name);
    return node && new PackFields(node, `${this.#what}.${name}`, this.#problems);
  }

  text(name: string, form: TextForm = {}): string {
    const node = this.#require(name);
    return node ? this.#readText(node, name, form) : '';
  }

  optionalText(name: string, form: TextForm = {}): string | undefined {
    const node = this.#fields.get(name);
    if (node === undefined || isNothing(node)) return undefined;
    return this.#readText(node, name, form);
  }

  choice<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    const found = values.find((value) => value === text);
    if (found === undefined && text !== '')
      this.report(name, `${quote(text)} is not a ${name}`, `there are ${values.join(', ')}`);
    return found;
  }

  count(name: string): number {
    const node = this.#require(name);
    if (
      node?.kind === 'scalar' &&
      typeof node.value === 'number' &&
      Number.isSafeInteger(node.value) &&
      node.value > 0
    )
      return node.value;
    if (node) this.report(name, `${name} has to be a whole number above 0`);
    return 1;
  }

  flag(name: string): boolean {
    const node = this.#fields.get(name);
    if (node === undefined) return false;
    if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
    this.report(name, `${name} has to be true or false`);
    return false;
  }

  /** At least one text. */
  texts(name: string): string[] {
    return this.list(name).map((node) => this.#readText(node, name, {}));
  }

  list(name: string): readonly SourceNode[] {
    const node = this.#require(name);
    if (node === undefined) return [];
    if (node.kind !== 'list' || node.items.length === 0 || node.items.length > MAX_ITEMS) {
      this.report(name, `${name} has to be a list of 1 to ${MAX_ITEMS} entries`);
      return [];
    }
    return node.items;
  }

  report(name: string, problem: string, hint?: string): void {
    this.#problems.push({ offset: this.#fields.get(name)?.offset ?? this.offset, problem, hint });
  }

  #require(name: string): SourceNode | undefined {
    const node = this.#fields.get(name);
    if (node === undefined)
      this.#problems.push({ offset: this.offset, problem: `${this.#what} has no ${name}` });
    return node;
  }

  #readText(node: SourceNode, name: string, { form, like }: TextForm): string {
    // A version such as 1.0 need not be quoted.
    const text =
      node.kind === 'scalar' && node.value !== null && typeof node.value !== 'boolean'
        ? typeof node.value === 'string'
          ? node.value
          : node.text
        : undefined;
    if (text === undefined || text === '' || text.length > MAX_TEXT) {
      this.#problems.push({
        offset: node.offset,
        problem: `${name} has to be a text of 1 to ${MAX_TEXT} characters`,
      });
      return '';
    }
    if (form && !form.test(text))
      this.#problems.push({
        offset: node.offset,
        problem: `${quote(text)} is not a ${name}`,
        hint: like,
      });
    return text;
  }
}

function isNothing(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

export function toPlainValue(node: SourceNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toPlainValue);
    default:
      return Object.fromEntries(node.pairs.map(({ key, value }) => [key, toPlainValue(value)]));
  }
}
