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
    const isTopLevel = (at: number): boolean =>
      !functions.some(({ startTokenIndex: start, endTokenIndex: end }) => at >= start && at < end);
    return texts.some((text, at) => {
      const next = texts[at + 1];
      // Names of members may be any word.
      if (texts[at - 1] === '.' || next === ':') return false;
      if (text === 'export') return true;
      if (text === 'import') return next !== '(';
      return text === 'await' && tokens[at]?.contextualKeyword !== 0 && isTopLevel(at);
    });
  } catch {
    return /^\s*(?:import\s*[\w{*'"]|export\s)/m.test(code);
  }
}
