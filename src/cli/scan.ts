import { AssayError } from '../core/errors.ts';
import { findClosest } from '../policy/did-you-mean.ts';
import { FlagValues } from './flag-values.ts';
import type { Command, Flag } from './sandbox-grammar.ts';

export interface ParsedCommand {
  /** The words of the command: `['policy', 'check']`. */
  readonly command: readonly string[];
  readonly flags: FlagValues;
  /** Positional arguments; for `sandbox` the whole command line of the program, untouched. */
  readonly rest: readonly string[];
}

/** Reads the arguments from `start` on by the grammar of one command. With `--help` among them it is `help`. */
export function scanCommand(
  name: string,
  command: Command,
  { args, start }: { readonly args: readonly string[]; readonly start: number },
): ParsedCommand {
  const scanner = new Scanner(name, command);
  if (scanner.scan(args, start)) return toCommand('help', name.split(' '));
  scanner.check();
  return { command: name.split(' '), flags: scanner.flags, rest: scanner.rest };
}

export function toCommand(name: string, rest: readonly string[] = []): ParsedCommand {
  return { command: [name], flags: new FlagValues(), rest };
}

export function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

/** Lives for one command line: what has been read of it so far. */
class Scanner {
  readonly flags = new FlagValues();
  readonly rest: string[] = [];
  readonly #name: string;
  readonly #command: Command;

  constructor(name: string, command: Command) {
    this.#name = name;
    this.#command = command;
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

export function quote(text: string): string {
  return `\`${text}\``;
}
