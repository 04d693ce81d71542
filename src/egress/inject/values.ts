import { AssayError } from '../../core/errors.ts';
import type { InjectRule } from '../../policy/policy.ts';
import { type CommandLimits, runValueCommand } from './value-command.ts';

/** The values of headers, by their entries. They go into requests outside, and nowhere else. */
export type InjectedValues = ReadonlyMap<InjectRule, string>;

export interface ValueSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the program could change the file: then what it prints is not the user's. */
  readonly canProgramWrite: (path: string) => boolean;
  readonly limits?: Partial<CommandLimits> | undefined;
}

const MAX_VALUE = 8192;

/** Asks for every value once; throws, before anything has run, when one cannot be had. */
export async function readInjectedValues(
  rules: readonly InjectRule[],
  source: ValueSource,
): Promise<InjectedValues> {
  const values = new Map<InjectRule, string>();
  // One after the other: commands that unlock a store may ask a person.
  for (const rule of rules) {
    const value = await readValue(rule, source);
    const problem = findProblem(value);
    if (problem) throw fail(rule, `${describeSource(rule)} ${problem}`);
    values.set(rule, value);
  }
  return values;
}

async function readValue(rule: InjectRule, source: ValueSource): Promise<string> {
  const { env, command } = rule.from;
  if (env !== undefined) {
    const value = source.env[env];
    if (value === undefined) throw fail(rule, `the variable ${env} is not set`);
    return value;
  }
  const ended = await runValueCommand(command, source);
  if ('problem' in ended) throw fail(rule, `${describeSource(rule)} ${ended.problem}`);
  return ended.output.replace(/\r?\n$/, '');
}

/** Without a word of the value. */
function findProblem(value: string): string | undefined {
  if (value === '') return 'gives an empty value';
  if (value.length > MAX_VALUE) return `gives more than ${MAX_VALUE} characters`;
  if (/[\r\n\0]/.test(value)) return 'gives a value of several lines, which no header can have';
  if (!/^[\t -~]*$/.test(value)) return 'gives a value with characters that no header can have';
  return value.trim() === value ? undefined : 'gives a value with blanks around it';
}

function describeSource({ from }: InjectRule): string {
  return from.env === undefined
    ? `the command "${from.command[0] ?? ''}"`
    : `the variable ${from.env}`;
}

function fail({ text, header, from, origin }: InjectRule, why: string): AssayError {
  const place = origin.at ? '' : `${origin.source} `;
  const hint =
    from.env === undefined
      ? 'Nothing was executed. Run the command yourself to see what it says'
      : `Nothing was executed. Set ${from.env} where assay is started, or take the entry out`;
  return new AssayError(
    'E_INJECT_FAILED',
    `Cannot inject ${header} for ${text} (${place}net.inject): ${why}`,
    { hint, at: origin.at },
  );
}
