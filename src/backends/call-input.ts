import { SandboxError } from './sandbox-error.ts';

/** Refuses what no program can be started with: `execve` takes each text up to a NUL. */
export function requireArguments(
  argv: readonly string[],
  env: readonly (readonly [name: string, value: string])[],
): void {
  if (argv.length === 0 || argv[0] === '' || argv.some((text) => text.includes('\0')))
    throw new SandboxError(
      'input_invalid',
      'A call needs a program, and arguments without null characters',
    );
  const wrong = env.find(([name, value]) => !/^[^=\0]+$/.test(name) || value.includes('\0'));
  if (wrong)
    throw new SandboxError(
      'input_invalid',
      `Cannot use ${JSON.stringify(wrong[0])} as a variable of the environment`,
      { hint: 'Give it a name without =, and neither name nor value a null character' },
    );
}
