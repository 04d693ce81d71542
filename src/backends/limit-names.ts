import type { SandboxLimits } from './spec.ts';

/** What whoever gives limits calls them, where that is not their name in a spec. */
export type LimitNames = Readonly<Partial<Record<keyof SandboxLimits, string>>>;

/** Limits are named in messages as in a spec; this says it in other words. Quoted names and paths stay. */
export function renameLimits(text: string, names: LimitNames): string {
  return text.replaceAll(
    /(?<![\w."/-])(?:options\.)?limits\.([A-Za-z]+)(?![\w."/-])/g,
    (all, name: string) => renameLimit(name, names, all),
  );
}

export function renameLimit(name: string, names: LimitNames, otherwise = name): string {
  return Object.hasOwn(names, name) ? (names[name as keyof LimitNames] ?? otherwise) : otherwise;
}
