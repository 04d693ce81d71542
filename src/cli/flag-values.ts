/** What was given, by long name. What was not is false, undefined or empty. */
export class FlagValues {
  readonly #values = new Map<string, string[]>();

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  names(): string[] {
    return [...this.#values.keys()];
  }

  add(name: string, values: readonly string[]): void {
    this.#values.set(name, [...this.list(name), ...values]);
  }
}
