import { AssayError } from '../core/errors.ts';
import { findClosest } from '../policy/did-you-mean.ts';
import { FlagValues } from './flag-values.ts';
import { COMMANDS, type Command, type CommandName, type Flag } from './grammar.ts';

export interface ParsedCommand {
  /** The words of the command: `['policy', 'check']`. */
  readonly command: readonly string[];
  readonly flags: FlagValues;
  /** Positional arguments; for `sandbox` the whole command line of the program, untouched. */
  readonly rest: readonly string[];
}

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
  const scanner = new Scanner(found.name);
  if (scanner.scan(args, found.next)) return toCommand('help', found.name.split(' '));
  scanner.check();
  return { command: found.name.split(' '), flags: scanner.flags, rest: scanner.rest };
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

function toCommand(name: CommandName, rest: string[] = []): ParsedCommand {
  return { command: [name], flags: new FlagValues(), rest };
}

function findCommand(args: readonly string[]): { name: CommandName; next: number } | undefined {
  for (const next of [1, 2]) {
    const name = args.slice(0, next).join(' ');
    if (Object.hasOwn(COMMANDS, name)) return { name: name as CommandName, next };
  }
  return undefined;
}

/** Lives for one command line: what has been read of it so far. */
class Scanner {
  readonly flags = new FlagValues();
  readonly rest: string[] = [];
  readonly #name: CommandName;
  readonly #command: Command;

  constructor(name: CommandName) {
    this.#name = name;
    this.#command = COMMANDS[name];
  }

  /** True when help is asked for, whatever else is wrong. */
  scan(args: readonly string[], start: number): boolean {
    let index = start;
    while (index < args.length) {
      const argument = args[index++] ?? '';
      if (argument === '--') {
        this.rest.push(...args.slice(index));
        return false;
      }
      if (isHelp(argument)) return true;
      if (argument.startsWith('--')) index += this.#readLong(argument, args[index]);
      else if (argument.startsWith('-') && argument !== '-') {
        index += this.#readShort(argument, args[index]);
      } else if (this.#command.positional?.isCommand) {
        this.rest.push(...args.slice(index - 1));
        return false;
      } else this.rest.push(argument);
    }
    return false;
  }

  /** Both read one argument, and return how many of the following they used. */
  #readLong(argument: string, following: string | undefined): number {
    const equals = argument.indexOf('=');
    const name = argument.slice(2, equals === -1 ? undefined : equals);
    const flag = this.#find(name, `--${name}`);
    const attached = equals === -1 ? undefined : argument.slice(equals + 1);
    return this.#set(name, flag, { attached, following });
  }

  #readShort(argument: string, following: string | undefined): number {
    for (let at = 1; at < argument.length; at++) {
      const name = this.#findShort(argument[at] ?? '');
      const flag = this.#find(name, argument);
      const attached = argument.slice(at + 1).replace(/^=/, '') || undefined;
      if (flag.value !== undefined) return this.#set(name, flag, { attached, following });
      this.#set(name, flag, { attached: undefined, following });
    }
    return 0;
  }

  #findShort(letter: string): string {
    const flags = this.#command.flags;
    const name = Object.keys(flags).find((key) => flags[key]?.short === letter);
    if (name === undefined) throw this.#refuse(`Unknown flag -${letter}`);
    return name;
  }

  #find(name: string, shown: string): Flag {
    const flag = Object.hasOwn(this.#command.flags, name) ? this.#command.flags[name] : undefined;
    if (flag) return flag;
    const closest = findClosest(name, [...Object.keys(this.#command.flags), 'help']);
    throw this.#refuse(
      `Unknown flag ${shown}${closest === undefined ? '' : `, did you mean --${closest}?`}`,
    );
  }

  #set(
    name: string,
    flag: Flag,
    { attached, following }: { attached: string | undefined; following: string | undefined },
  ): number {
    if (flag.value === undefined) {
      if (attached !== undefined) throw this.#refuse(`--${name} takes no value`);
      if (!this.flags.has(name)) this.flags.add(name, []);
      return 0;
    }
    // One dash may start a value (`--layers -mount`, `--json -`), two may not: that is a forgotten value.
    const isUsable = following !== undefined && !following.startsWith('--');
    const value = attached ?? (isUsable ? following : undefined);
    if (value === undefined || value === '') {
      throw this.#refuse(`--${name} needs a value: --${name} ${flag.value}`);
    }
    this.#store(name, flag, value);
    return attached === undefined ? 1 : 0;
  }

  #store(name: string, flag: Flag, value: string): void {
    if (flag.isList) {
      this.flags.add(
        name,
        value.split(',').flatMap((part) => part.trim() || []),
      );
      return;
    }
    // Two policies of which one is silently dropped would be a hole.
    if (!flag.isRepeatable && this.flags.has(name)) throw this.#refuse(`--${name} is given twice`);
    this.#checkChoice(value, flag.choices, `--${name}`);
    this.flags.add(name, [value]);
  }

  check(): void {
    for (const name of this.flags.names()) {
      const flag = this.#command.flags[name];
      const clash = flag?.conflicts?.find((other) => this.flags.has(other));
      if (clash !== undefined) throw this.#refuse(`--${name} and --${clash} exclude each other`);
    }
    const { name = '', min = 0, max = 0, choices } = this.#command.positional ?? {};
    const count = this.rest.length;
    if (count < min) throw this.#refuse(`${quote(this.#name)} needs a ${name}`);
    if (count > max) throw this.#refuse(`Unexpected argument ${quote(this.rest[max] ?? '')}`);
    for (const value of this.rest) this.#checkChoice(value, choices, name);
  }

  #checkChoice(value: string, choices: readonly string[] | undefined, name: string): void {
    if (choices === undefined || choices.includes(value)) return;
    throw this.#refuse(`${name} is one of ${choices.join(', ')}, not ${quote(value)}`);
  }

  #refuse(message: string): AssayError {
    return new AssayError('E_USAGE', message, { hint: `Try assay ${this.#name} --help` });
  }
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

function quote(text: string): string {
  return `\`${text}\``;
}
