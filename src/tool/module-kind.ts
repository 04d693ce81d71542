import { builtinModules } from 'node:module';

/** Only code with one of these words can be anything but a plain script. */
const MODULE_WORDS = /\b(?:import|export|await)\b/;
/** Blanks can be matched in one way only: there may be a million of them. */
const SPECIFIERS = /\b(?:from|import|require)\s*(?:\(\s*)?(['"])([^'"\n]+)\1/g;
const REQUIRES = /(?<![.\w$])require\s*\(/;

export interface ModuleKind {
  readonly isModule: boolean;
  /** It calls `require`, which modules do not have. */
  readonly usesRequire: boolean;
}

/**
 * Whether JavaScript is a module: it imports, exports or awaits outside of any function. Not every engine finds out by
 * itself.
 */
export async function findModuleKind(code: string): Promise<ModuleKind> {
  const usesRequire = REQUIRES.test(code);
  if (!MODULE_WORDS.test(code)) return { isModule: false, usesRequire };
  const { parseModule } = await import('./parse-module.ts');
  return { isModule: parseModule(code), usesRequire };
}

/** Whether code names modules that are looked for from where it lies: `./helper.js`, or packages. */
export function namesOtherModules(code: string): boolean {
  return Array.from(code.matchAll(SPECIFIERS), (found) => found[2] ?? '').some(
    (name) =>
      !name.startsWith('node:') &&
      !builtinModules.includes(name) &&
      !/^(?:https?|data):/.test(name),
  );
}
