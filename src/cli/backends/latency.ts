import type { BackendReport, Language } from '../../backends/backend.ts';
import type { Sandbox } from '../../backends/sandbox.ts';
import { FileState } from '../../tool/file-state.ts';
import { prepareCode } from '../../tool/prepare-code.ts';
import { runCode } from '../../tool/run-code.ts';

const RUNS = 5;
/** By how little the language itself adds. */
const PROGRAMS: readonly (readonly [Language, string])[] = [
  ['bash', ':\n'],
  ['javascript', ';\n'],
  ['python', 'pass\n'],
];

export interface Latency {
  /** Of the program that does nothing. */
  readonly language: Language;
  /** From nothing to the end of the program, and until nothing is left. */
  readonly coldMs: number;
  /** In a sandbox that waits for it. */
  readonly warmMs: number;
  readonly runs: number;
}

/** The median of a few real runs. */
export async function measureLatency(
  create: () => Promise<Sandbox>,
  report: BackendReport,
): Promise<Latency | undefined> {
  const found = PROGRAMS.find(([language]) => report.languages[language]);
  if (!found) return undefined;
  const [language, text] = found;
  const code = await prepareCode(language, text, report);
  if (!('bytes' in code)) return undefined;
  const cold: number[] = [];
  const warm: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    const sandbox = await create();
    try {
      const ready = performance.now();
      const { result } = await runCode({
        sandbox,
        state: new FileState(),
        input: { language, code: text },
        code,
      });
      if (!result.isOk)
        throw new Error(`A program that does nothing ended: ${result.outcome.kind}`);
      warm.push(performance.now() - ready);
    } finally {
      await sandbox[Symbol.asyncDispose]();
    }
    cold.push(performance.now() - start);
  }
  return { language, coldMs: median(cold), warmMs: median(warm), runs: RUNS };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}
