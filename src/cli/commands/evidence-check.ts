import { AssayError } from '../../core/errors.ts';
import { toPrintable, toPrintableJson, toPrintableLines } from '../../core/printable.ts';
import { type Judgement, malformed } from '../../evidence/interop/judgement.ts';
import { judgeDocument } from '../../evidence/interop/judge-document.ts';
import { readBounded } from '../bounded-file.ts';
import type { ParsedCommand } from '../parse.ts';

/** Frozen: docs/evidence-check.md. */
const EXIT_CODES = { pass: 0, fail: 6, malformed: 3 } as const;
const MARKS = { pass: '✓', fail: '✗', malformed: '✗' } as const;
const MAX_BYTES = 128 * 1024 * 1024;

/** `assay evidence check`: judges one document that is not a bundle. */
export function run({ flags, rest }: Pick<ParsedCommand, 'flags' | 'rest'>): Promise<number> {
  const [file = ''] = rest;
  const judgement = judge(readDocument(file), flags.has('allow-degraded'));
  const { kind, verdict, reason, signals, report } = judgement;
  const code = EXIT_CODES[verdict];
  process.stdout.write(
    flags.has('json')
      ? toPrintableLines(
          `${toPrintableJson({ kind, verdict, exit_code: code, reason, signals, report }, 2)}\n`,
        )
      : describe(file, judgement),
  );
  return Promise.resolve(code);
}

function readDocument(file: string): Uint8Array {
  try {
    return readBounded(file, MAX_BYTES);
  } catch (cause) {
    throw new AssayError(
      'E_USAGE',
      `Cannot read the document "${file}": ${(cause as Error).message}`,
      { hint: 'Name a JSON file, or - for standard input', cause },
    );
  }
}

function judge(bytes: Uint8Array, isDegradedAllowed: boolean): Judgement {
  if (bytes.length > MAX_BYTES)
    return malformed('unknown', `It is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return malformed('unknown', 'It is not text in UTF-8');
  }
  return judgeDocument(text, { isDegradedAllowed });
}

function describe(file: string, { kind, verdict, reason, signals, report }: Judgement): string {
  const lines = [
    `${MARKS[verdict]} ${toPrintable(file)}: ${verdict} (${kind})`,
    `  ${toPrintable(reason)}`,
    ...signals.map((signal) => `  ! ${toPrintable(signal)}`),
    ...Object.entries(report).map(([name, value]) => `  ${name}: ${toPrintable(show(value))}`),
  ];
  return `${lines.join('\n')}\n`;
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
