import { AssayError } from '../core/errors.ts';
import { findClosest } from '../policy/did-you-mean.ts';
import { COMMANDS, type CommandName } from './grammar.ts';
import { isHelp, type ParsedCommand, quote, scanCommand, toCommand } from './scan.ts';

export type { ParsedCommand } from './scan.ts';

/**
 * Reads the arguments after `assay`. Help and version come out as commands, too: `assay sandbox --help` is
 * `assay help sandbox`, and so is `--help` anywhere before the program's own arguments.
 */
export function parseCommandLine(args: readonly string[]): ParsedCommand {
  const [first, second] = args;
  if (first === undefined || isHelp(first)) return toCommand('help');
  if (first === '--version' || first === '-V') return toCommand('version');
  const found = findCommand(args);
  if (found === undefined) {
    if (second !== undefined && isHelp(second)) return toCommand('help', [first]);
    throw refuseCommand(first, second);
  }
  return scanCommand(found.name, COMMANDS[found.name], { args, start: found.next });
}

function findCommand(args: readonly string[]): { name: CommandName; next: number } | undefined {
  for (const next of [1, 2]) {
    const name = args.slice(0, next).join(' ');
    if (Object.hasOwn(COMMANDS, name)) return { name: name as CommandName, next };
  }
  return undefined;
}

function refuseCommand(first: string, second: string | undefined): AssayError {
  const names = Object.keys(COMMANDS);
  const below = names.filter((name) => name.startsWith(`${first} `));
  if (below.length > 0) {
    const list = below.map((name) => name.slice(first.length + 1)).join(', ');
    const problem = second === undefined ? '' : `, not ${quote(second)}`;
    return new AssayError('E_USAGE', `${quote(first)} needs one of ${list}${problem}`, {
      hint: `Try assay ${first} --help`,
    });
  }
  if (first.startsWith('-')) {
    return new AssayError('E_USAGE', `Unknown flag ${first} before a command`, {
      hint: 'Flags come after the command: assay sandbox --quiet -- ls',
    });
  }
  const closest = findClosest(first, [...new Set(names.map((name) => name.split(' ')[0] ?? ''))]);
  return new AssayError(
    'E_USAGE',
    `Unknown command ${quote(first)}${closest === undefined ? '' : `, did you mean ${closest}?`}`,
    {
      hint:
        closest === undefined
          ? `To run a program inside the sandbox: assay sandbox -- ${first}`
          : 'Try assay --help',
    },
  );
}
