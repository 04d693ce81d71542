/** A parsed file with positions, the same for YAML and JSON. Offsets count from 0. */
export type SourceNode =
  | { readonly kind: 'map'; readonly offset: number; readonly pairs: readonly SourcePair[] }
  | { readonly kind: 'list'; readonly offset: number; readonly items: readonly SourceNode[] }
  | {
      readonly kind: 'scalar';
      readonly offset: number;
      readonly value: string | number | boolean | null;
      /** As written, for numbers and booleans that stand for a text. */
      readonly text: string;
    };

export interface SourcePair {
  readonly key: string;
  readonly keyOffset: number;
  readonly value: SourceNode;
}

/** Why a text could not be parsed at all. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly problem: string;
  readonly hint?: string | undefined;
}

export type ParsedSource =
  { readonly root: SourceNode } | { readonly problems: readonly SyntaxProblem[] };
