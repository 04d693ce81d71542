import { isAtOrBelow } from '../../plan/file-tree.ts';
import { CONNECT, WRITE } from '../../plan/grants.ts';
import type { Plan } from '../../plan/make-plan.ts';
import type { BrokerRules } from '../../plan/plan.ts';
import { matchPattern } from '../../policy/glob.ts';

/*
 * What the broker of a bounded run says of a path. `native/rules.c` is the twin of this file: the same rules in the same
 * order, so that the rule that is named is the same as well.
 */

interface Rule {
  readonly id: number;
  readonly effect: BrokerRules['effect'];
  readonly ops: number;
  readonly pattern: string;
  readonly isLiteral: boolean;
  /** Of the leading directory without a wildcard; of all of it, when there is none. */
  readonly literalLength: number;
}

/** No name holds it. */
const END = '/\0';

export class RuleBook {
  readonly #rules: readonly Rule[];
  readonly #allowing: readonly Rule[];
  readonly #named = new Map<string, Rule[]>();
  readonly #others: Rule[] = [];
  readonly #private: readonly string[];
  readonly #shared: readonly string[];

  constructor({ brokerRules, privateTmp, sharedInTmp, scopedDir }: Plan['launch']) {
    this.#rules = brokerRules.flatMap(listRules);
    this.#allowing = this.#rules.filter(({ effect }) => effect === 'allow');
    // A dry run has the private directory where it lies on the host.
    this.#private = [...privateTmp, scopedDir];
    this.#shared = sharedInTmp;
    for (const rule of this.#rules.filter(isRefusing)) {
      const name = fixedName(rule);
      if (name === undefined) this.#others.push(rule);
      else this.#named.set(name, [...(this.#named.get(name) ?? []), rule]);
    }
  }

  isPrivate(path: string): boolean {
    return (
      this.#private.some((place) => isAtOrBelow(path, place)) &&
      !this.#shared.some((place) => isAtOrBelow(path, place))
    );
  }

  /** The number of the rule that refuses, or 0. */
  findRefusal(path: string, ops: number): number {
    const lists = [
      this.#others,
      ...path.split('/').map((name) => (name && this.#named.get(name)) || []),
    ];
    for (const rules of lists) {
      const found = rules.find((rule) => (rule.ops & ops) !== 0 && this.#refuses(rule, path));
      if (found) return found.id;
    }
    return 0;
  }

  /** Whether some rule grants each of the operations. */
  isCovered(path: string, ops: number): boolean {
    if (!path.startsWith('/') || path.startsWith('/memfd:')) return true;
    if ((ops & CONNECT) === 0 && this.isPrivate(path)) return true;
    let left = ops;
    for (const rule of this.#allowing) {
      if ((rule.ops & left) !== 0 && covers(rule, path)) left &= ~rule.ops;
      if (left === 0) return true;
    }
    return false;
  }

  /** A rule over a fixed place must not lose its place, and a directory must not bring protected names with it. */
  findRenameRefusal(from: string, to: string, isDirectory: boolean): number {
    const found = this.#rules.find(
      (rule) =>
        isRefusing(rule) &&
        (isHeldBy(rule, from) || (isDirectory && this.#isBroughtBy(rule, from, to))),
    );
    return found?.id ?? 0;
  }

  /** A file that is protected before it is there needs the directory that it is to be in. */
  findRmdirRefusal(dir: string): number {
    const found = this.#rules.find(
      ({ effect, ops, isLiteral, pattern }) =>
        effect === 'deny' && ops === WRITE && isLiteral && isAtOrBelow(pattern, dir),
    );
    return found?.id ?? 0;
  }

  #refuses(rule: Rule, path: string): boolean {
    return covers(rule, path) && (rule.effect === 'deny' || !this.#isLifted(rule, path));
  }

  #isLifted({ id }: Rule, path: string): boolean {
    if (this.isPrivate(path)) return true;
    return this.#rules.some(
      (rule) => rule.effect === 'lift' && rule.id === id && covers(rule, path),
    );
  }

  #isBroughtBy(rule: Rule, from: string, to: string): boolean {
    if (!leadsTo(rule.pattern, to) && !leadsTo(rule.pattern, from)) return false;
    return !(rule.effect === 'protect' && this.isPrivate(to)) && !this.#isRepeated(rule, from);
  }

  /** What is protected wherever it is made need not be so once more below a place that it was lifted from. */
  #isRepeated({ effect, pattern }: Rule, from: string): boolean {
    const at = pattern.indexOf('/**/', 1);
    if (effect !== 'protect' || at < 0) return false;
    const name = pattern.slice(at);
    if (this.#rules.some((rule) => rule.effect === 'lift' && isAtOrBelow(rule.pattern, from)))
      return false;
    return this.#rules.some((rule) => rule.effect === 'protect' && rule.pattern === name);
  }
}

function listRules({ firstId, effect, ops, patterns }: BrokerRules): Rule[] {
  return patterns.map((pattern, at) => {
    const wild = pattern.search(/[*?[\\]/);
    const isLiteral = wild < 0;
    const literalLength = isLiteral ? pattern.length : pattern.lastIndexOf('/', wild) || 1;
    const id = effect === 'lift' ? firstId : firstId + at;
    return { id, effect, ops, pattern, isLiteral, literalLength };
  });
}

function isRefusing({ effect }: Rule): boolean {
  return effect === 'deny' || effect === 'protect';
}

function covers({ pattern, isLiteral }: Rule, path: string): boolean {
  return isLiteral ? isAtOrBelow(path, pattern) : matchPattern(pattern, path);
}

/** The name that a path must have for the rule to cover it. */
function fixedName({ pattern }: Rule): string | undefined {
  if (!pattern.startsWith('/**/')) return undefined;
  const [name = ''] = pattern.slice('/**/'.length).split('/');
  return name === '' || /[*?[\\]/.test(name) ? undefined : name;
}

function isHeldBy({ pattern, literalLength }: Rule, from: string): boolean {
  return literalLength > 1 && literalLength >= from.length && isAtOrBelow(pattern, from);
}

/** Whether the whole of `dir` uses up a leading part of the pattern that ends in a name, with more to come. */
function leadsTo(pattern: string, dir: string): boolean {
  for (let cut = pattern.indexOf('/', 1); cut > 0; cut = pattern.indexOf('/', cut + 1)) {
    const head = pattern.slice(0, cut);
    if (!head.endsWith('/**') && matchPattern(`${head}${END}`, `${dir}${END}`)) return true;
  }
  return false;
}
