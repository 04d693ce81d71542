/** Names that share a general form, so that it stays visible beside the id how much a form stands for. */
export interface FoldedNames {
  readonly path: string;
  /** How many different names. */
  readonly count: number;
  /** Names of entries in NORMALISATION_RULES. */
  readonly rules: readonly string[];
}

export interface Folds {
  /** Tells that `form` stands for `name` because of a rule. */
  note(form: string, name: string, rule: string): void;
  list(): readonly FoldedNames[];
}

export function makeFolds(): Folds {
  const folds = new Map<string, { names: Set<string>; rules: Set<string> }>();
  return {
    note(form, name, rule) {
      let fold = folds.get(form);
      if (fold === undefined) folds.set(form, (fold = { names: new Set(), rules: new Set() }));
      fold.names.add(name);
      fold.rules.add(rule);
    },
    list: () =>
      [...folds]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, { names, rules }]) => ({
          path,
          count: names.size,
          rules: [...rules].sort(),
        })),
  };
}
