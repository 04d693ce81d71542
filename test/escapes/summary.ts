import type { Attack } from './attack.ts';

export interface Note {
  readonly attack: Attack;
  readonly attacker: string;
  readonly column: string;
  readonly result: string;
}

const ALARMS = new Set(['GOT THROUGH', 'LEFT BEHIND']);

/** A table of attack, control and result, printed once all attacks of a file have run. */
export class Summary {
  readonly #title: string;
  readonly #rows = new Map<
    string,
    { readonly control: string; readonly results: Map<string, string> }
  >();

  constructor(title: string) {
    this.#title = title;
  }

  note({ attack, attacker, column, result }: Note): void {
    const key = `${attack.id} (${attacker})`;
    const row = this.#rows.get(key) ?? {
      control: attack.control.join('+'),
      results: new Map<string, string>(),
    };
    row.results.set(column, result);
    this.#rows.set(key, row);
  }

  print(): void {
    const rows = [...this.#rows];
    const count = (wanted: (result: string) => boolean) =>
      rows.reduce((sum, [, row]) => sum + [...row.results.values()].filter(wanted).length, 0);
    const lines = rows.map(([key, row]) => {
      const results = [...row.results].map(([column, result]) => `${column}: ${result}`).join(', ');
      return `  ${key.padEnd(36)} ${row.control.padEnd(24)} ${results}`;
    });
    const held = count((result) => result === 'held');
    const alarms = count((result) => ALARMS.has(result));
    const announced = count((result) => result === 'announced' || result === 'refused');
    console.log(
      [
        `${this.#title}: ${rows.length} attacks, ${held} held, ${announced} announced, ${alarms} got through`,
        ...lines,
      ].join('\n'),
    );
  }
}
