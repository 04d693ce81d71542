import { toPrintableLines } from '../core/printable.ts';
import type { PlainValue } from './yaml-text.ts';

const PIECE_LENGTH = 1 << 16;

/** As `toPrintableJson(value, 2)` and a line break, in pieces. */
export function* writeJson(value: PlainValue): Generator<string> {
  let piece = '';
  for (const part of writeParts(value, '')) {
    piece += part;
    if (piece.length < PIECE_LENGTH) continue;
    yield toPrintableLines(piece);
    piece = '';
  }
  yield toPrintableLines(`${piece}\n`);
}

function* writeParts(value: PlainValue, indent: string): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  const [open, close] = isList ? '[]' : '{}';
  let mark = `${open}\n`;
  for (const [key, member] of Object.entries<PlainValue>(
    value as { readonly [key: string]: PlainValue },
  )) {
    yield `${mark}${indent}  ${isList ? '' : `${JSON.stringify(key)}: `}`;
    yield* writeParts(member, `${indent}  `);
    mark = ',\n';
  }
  yield mark === ',\n' ? `\n${indent}${close}` : `${open}${close}`;
}
