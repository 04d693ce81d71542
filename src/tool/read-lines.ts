import { decodeUtf8 } from '../core/utf8.ts';

const NEWLINE = 0x0a;

/** A line without its end. `text` is missing where it is too long or not UTF-8. */
export interface ReadLine {
  readonly number: number;
  readonly text?: string;
  readonly problem?: string;
}

/** Line by line, and never more in memory than one line may be long. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<ReadLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const finish = (): ReadLine => {
    const line = makeLine(number, parts, { isTooLong: length > maxBytes, maxBytes });
    parts = [];
    length = 0;
    number += 1;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const piece = chunk.subarray(start, end === -1 ? undefined : end);
      length += piece.length;
      if (length <= maxBytes) parts.push(piece);
      else parts = [];
      if (end === -1) break;
      yield finish();
      start = end + 1;
    }
  }
  if (length > 0) yield finish();
}

function makeLine(
  number: number,
  parts: readonly Uint8Array[],
  { isTooLong, maxBytes }: { isTooLong: boolean; maxBytes: number },
): ReadLine {
  if (isTooLong) return { number, problem: `the line is longer than ${maxBytes} bytes` };
  const text = decodeUtf8(Buffer.concat(parts));
  return text === undefined ? { number, problem: 'the line is not UTF-8' } : { number, text };
}
