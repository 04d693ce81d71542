import type { Place } from '../core/errors.ts';
import { findClosest } from './did-you-mean.ts';
import type { PolicyData } from './document.ts';
import { makeSnippet, placeAt, type PolicyProblem, quote, type Refusal } from './problems.ts';
import { POLICY_SHAPE, type Shape } from './schema.ts';
import type { SourceNode, SourcePair } from './source-node.ts';
import { suggestForm, suggestSection } from './suggest-line.ts';

/** Checks a parsed file against the schema and finds every problem in it, not only the first. */
export function validatePolicy(
  root: SourceNode,
  text: string,
  file: string,
): { data: PolicyData; places: Map<string, Place>; problems: PolicyProblem[] } {
  const validator = new Validator(text, file);
  // What has the shape of POLICY_SHAPE is a PolicyData; what has not leaves a problem, and then is not used.
  const data = (validator.check(root, POLICY_SHAPE, '') ?? {}) as PolicyData;
  return { data, places: validator.places, problems: validator.problems };
}

class Validator {
  readonly places = new Map<string, Place>();
  readonly problems: PolicyProblem[] = [];
  readonly #text: string;
  readonly #file: string;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  /** The value for the document; undefined when it is absent or wrong. `key` is its path, `fs.allow.0`. */
  check(node: SourceNode, shape: Shape, key: string): unknown {
    this.places.set(key, placeAt(this.#text, this.#file, node.offset));
    switch (shape.kind) {
      case 'map':
        return this.#checkMap(node, shape, key);
      case 'list':
        return this.#checkList(node, shape, key);
      case 'texts':
        return this.#checkTexts(node, shape, key);
      case 'entry':
        return node.kind === 'map'
          ? this.#checkMap(node, shape.map, key)
          : this.#checkScalar(node, shape.text, key);
      default:
        return this.#checkScalar(node, shape, key);
    }
  }

  #checkMap(node: SourceNode, shape: Shape & { kind: 'map' }, key: string): unknown {
    const isNothing = node.kind === 'scalar' && node.value === null;
    if (isNothing && !shape.isOneOf) return {};
    const known = Object.keys(shape.keys);
    if (node.kind !== 'map') {
      const list = known.map((name) => `\`${name}\``).join(', ');
      const form = `${shape.isOneOf ? 'one key' : 'keys'} out of ${list}`;
      return this.#reportType(node, key, form, suggestForm(key, node, shape, this.#file));
    }
    const out: Record<string, unknown> = {};
    const earlier = this.problems.length;
    for (const { name, value } of this.#eachPair(node)) {
      const inner = Object.hasOwn(shape.keys, name.text) ? shape.keys[name.text] : undefined;
      if (inner) out[name.text] = this.check(value, inner, joinKey(key, name.text));
      else this.#reportUnknown({ name, value }, node.pairs, shape.keys, key);
    }
    if (shape.isOneOf && node.pairs.length !== 1) {
      const wanted = known.map((name) => `\`${name}\``).join(' or ');
      this.#report(node.offset, { problem: `expected exactly one key, ${wanted}` });
    }
    const missing = shape.required?.find((name) => !node.pairs.some((pair) => pair.key === name));
    if (missing !== undefined) this.#report(node.offset, { problem: `\`${missing}\` is missing` });
    const value = dropUndefined(out);
    // What is wrong by itself needs no word about the rest.
    const refusal = this.problems.length === earlier ? shape.check?.(value) : undefined;
    if (refusal) this.#report(node.offset, refusal);
    return value;
  }

  #checkList(node: SourceNode, shape: Shape & { kind: 'list' }, key: string): unknown {
    if (node.kind === 'scalar' && node.value === null) return [];
    if (node.kind !== 'list')
      return this.#reportType(node, key, 'a list', suggestForm(key, node, shape, this.#file));
    return node.items.map((item, index) => {
      const isNumber =
        shape.canBeNumber && item.kind === 'scalar' && typeof item.value === 'number';
      const taken = isNumber ? { ...item, value: item.text } : item;
      return this.check(taken, shape.of, joinKey(key, String(index)));
    });
  }

  #checkTexts(node: SourceNode, shape: Shape & { kind: 'texts' }, key: string): unknown {
    if (node.kind === 'scalar' && node.value === null) return {};
    if (node.kind !== 'map') return this.#reportType(node, key, 'a map of names to texts');
    const out: [string, string][] = [];
    for (const { name, value } of this.#eachPair(node)) {
      if (!shape.checkName(name.text)) {
        this.#report(name.offset, { problem: `${quote(name.text)} is not ${shape.name}` });
      } else if (value.kind !== 'scalar' || value.value === null) {
        this.#reportType(value, joinKey(key, name.text), 'a text');
      } else if (String(value.value).includes('\0')) {
        this.#report(value.offset, { problem: `\`${joinKey(key, name.text)}\` holds a NUL byte` });
      } else {
        out.push([name.text, typeof value.value === 'string' ? value.value : value.text]);
      }
    }
    return Object.fromEntries(out);
  }

  #checkScalar(
    node: SourceNode,
    shape: Shape & { kind: 'text' | 'quantity' | 'choice' | 'boolean' },
    key: string,
  ): unknown {
    const value = node.kind === 'scalar' ? node.value : undefined;
    if (shape.kind === 'boolean') {
      return typeof value === 'boolean' ? value : this.#reportType(node, key, 'true or false');
    }
    if (shape.kind === 'choice') {
      if (typeof value === 'string' && shape.values.includes(value)) return value;
      const near = typeof value === 'string' ? findClosest(value, shape.values) : undefined;
      return this.#reportType(
        node,
        key,
        listChoices(shape.values),
        near && `did you mean \`${near}\`?`,
      );
    }
    if (shape.kind === 'quantity') {
      const isUsable = typeof value === 'string' || typeof value === 'number';
      if (isUsable && shape.parse(value) !== undefined) return value;
      return this.#reportType(node, key, shape.form);
    }
    if (typeof value !== 'string')
      return this.#reportType(node, key, shape.form, explainNonText(node));
    const refusal = checkText(value, key) ?? shape.check?.(value);
    if (refusal) this.#report(node.offset, refusal);
    return refusal ? undefined : value;
  }

  /** The pairs of a map; a repeated key is a problem and its later values are left out. */
  *#eachPair(node: SourceNode & { kind: 'map' }): Generator<Pair> {
    const seen = new Map<string, number>();
    for (const { key, keyOffset, value } of node.pairs) {
      const earlier = seen.get(key);
      if (earlier === undefined) {
        seen.set(key, keyOffset);
        yield { name: { text: key, offset: keyOffset }, value };
      } else {
        const { line } = placeAt(this.#text, this.#file, earlier);
        this.#report(keyOffset, {
          problem: `key ${quote(key)} is repeated, first on line ${line}`,
        });
      }
    }
  }

  #reportUnknown(
    { name, value }: Pair,
    pairs: readonly SourcePair[],
    keys: Shapes,
    key: string,
  ): void {
    const known = Object.keys(keys);
    const word = name.text.toLowerCase();
    const near =
      findClosest(word, known) ?? known.find((one) => word.startsWith(one) || MEANS[word] === one);
    const where = key === '' ? '' : ` in \`${key}\``;
    const meant = near === undefined ? undefined : keys[near];
    const suggestion =
      (key === '' ? suggestSection(name.text, pairs, this.#file) : undefined) ??
      (near && meant && suggestForm(joinKey(key, near), value, meant, this.#file));
    this.#report(name.offset, {
      problem: `unknown key ${quote(name.text)}${where}${near ? `, did you mean \`${near}\`?` : ''}`,
      hint: suggestion || `expected one of ${known.map((one) => `\`${one}\``).join(', ')}`,
    });
  }

  #reportType(node: SourceNode, key: string, expected: string, hint?: string): undefined {
    const subject = key === '' ? 'the policy' : `\`${key}\``;
    this.#report(node.offset, {
      problem: `${subject} is ${describe(node)}, expected ${expected}`,
      hint,
    });
  }

  #report(offset: number, { problem, hint }: Refusal): void {
    const at = placeAt(this.#text, this.#file, offset);
    this.problems.push({ message: problem, hint, at, snippet: makeSnippet(this.#text, at) });
  }
}

type Shapes = Readonly<Record<string, Shape>>;
type Pair = { readonly name: KeyName; readonly value: SourceNode };

/** Words of other tools. */
const MEANS: Readonly<Record<string, string>> = { block: 'deny', filesystem: 'fs' };

interface KeyName {
  readonly text: string;
  readonly offset: number;
}

function checkText(text: string, key: string): Refusal | undefined {
  if (text === '') return { problem: `\`${key}\` is an empty text` };
  if (text.includes('\0')) return { problem: `\`${key}\` holds a NUL byte` };
  if (text.trim() !== text) return { problem: `\`${key}\` starts or ends with white space` };
  return undefined;
}

function explainNonText(node: SourceNode): string | undefined {
  if (node.kind !== 'scalar') return 'quote entries that hold [ ] { } or a colon';
  if (node.value === null)
    return node.text === '~' ? 'YAML reads a bare ~ as nothing: write "~"' : undefined;
  return 'put it in quotes';
}

function describe(node: SourceNode): string {
  if (node.kind === 'map') return 'a map';
  if (node.kind === 'list') return 'a list';
  if (node.value === null) return 'empty';
  return typeof node.value === 'string'
    ? quote(node.value)
    : `the ${typeof node.value} ${quote(node.text)}`;
}

function listChoices(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(' or ');
}

function joinKey(key: string, name: string): string {
  return key === '' ? name : `${key}.${name}`;
}

function dropUndefined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
