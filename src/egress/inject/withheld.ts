import type { InjectedValues } from './values.ts';

/** A shorter one is found in too many values that have nothing to do with it. */
const MIN_PART = 8;

/** The variables that hold a value, under whatever name, alone or as a part. */
export function findWithheld(
  env: Readonly<Record<string, string>>,
  values: InjectedValues,
): ReadonlySet<string> {
  const withheld = new Set<string>();
  for (const [{ from }, value] of values) {
    if (from.env !== undefined) withheld.add(from.env);
    // `Bearer TOKEN` is the token, with or without the word before it.
    const parts = [value, ...value.split(' ').slice(-1)];
    for (const [name, text] of Object.entries(env))
      if (parts.some((part) => text === part || (part.length >= MIN_PART && text.includes(part))))
        withheld.add(name);
  }
  return withheld;
}
