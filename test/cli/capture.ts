import { vi } from 'vitest';
import { FlagValues } from '../../src/cli/flag-values.ts';
import type { ParsedCommand } from '../../src/cli/parse.ts';

export interface Captured {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process and keeps what it prints. */
export async function capture(
  run: (parsed: ParsedCommand) => Promise<number>,
  flags: Readonly<Record<string, string>>,
  rest: readonly string[] = [],
): Promise<Captured> {
  const values = new FlagValues();
  for (const [name, value] of Object.entries(flags)) values.add(name, [value]);
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await run({ command: [], flags: values, rest }), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
