import { toPrintableJson } from '../../core/printable.ts';

/** JSON may hold characters that steer a terminal. Spelt out they are the same to whoever reads JSON. */
export function toJsonLine(value: object): string {
  return `${toPrintableJson(value)}\n`;
}
