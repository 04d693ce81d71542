import type * as Parser from 'sucrase/dist/types/parser/index.js';
// @ts-expect-error -- its types lie elsewhere in the package, and are given to it below
import * as parser from 'sucrase/dist/parser/index.js';

/** By its syntax. What cannot be parsed is taken for what its lines look like: the engine then says what is wrong. */
export function parseModule(code: string): boolean {
  const { parse } = parser as unknown as typeof Parser;
  try {
    const { tokens, scopes } = parse(code, false, false, false);
    const texts = tokens.map(({ start, end }) => code.slice(start, end));
    const functions = scopes.filter(
      // The program itself counts as one, too.
      ({ isFunctionScope, endTokenIndex }) => isFunctionScope && endTokenIndex < tokens.length,
    );
    const depths = countDepths(functions, tokens.length);
    return texts.some((text, at) => {
      const next = texts[at + 1];
      // Names of members may be any word.
      if (texts[at - 1] === '.' || next === ':') return false;
      if (text === 'export') return true;
      if (text === 'import') return next !== '(';
      return text === 'await' && tokens[at]?.contextualKeyword !== 0 && depths[at] === 0;
    });
  } catch {
    return /^[^\S\n\r\u2028\u2029]*(?:import\s*[\w{*'"]|export\s)/m.test(code);
  }
}

/** Of each token, how many of the scopes it lies in. */
function countDepths(
  scopes: readonly { readonly startTokenIndex: number; readonly endTokenIndex: number }[],
  length: number,
): Int32Array {
  const depths = new Int32Array(length + 1);
  for (const { startTokenIndex, endTokenIndex } of scopes) {
    depths[startTokenIndex] = (depths[startTokenIndex] ?? 0) + 1;
    depths[endTokenIndex] = (depths[endTokenIndex] ?? 0) - 1;
  }
  let depth = 0;
  return depths.map((step) => (depth += step));
}
