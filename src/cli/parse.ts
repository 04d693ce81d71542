import { AssayError } from '../core/errors.ts';
import { findClosest } from '../policy/did-you-mean.ts';
import { COMMANDS, type Command, type CommandName, type Flag, type Flags } from './grammar.ts';

/** What the user asked for, one shape for each command. */
export type Invocation = {
  readonly [Name in CommandName]: {
    readonly command: Name;
    readonly flags: Flags<Name>;
    /** Positional arguments; for `sandbox` the whole command line of the program. */
    readonly rest: readonly string[];
  };
}[CommandName];

type FlagValues = Record<string, true | string | string[]>;

/** Reads the arguments after `assay`. `--help` anywhere before the program's own arguments becomes `help`. */
export function parseArguments(args: readonly string[]): Invocation {
  const [first] = args;
  if (first === undefined || first === '--help' || first === '-h') return help([]);
  if (first === '--version' || first === '-V') return { command: 'version', flags: {}, rest: [] };
  const found = findCommand(args);
  if (found === undefined) {
    // `assay policy` and `assay policy --help`
    if (args[1] === '--help' || args[1] === '-h') return help([first]);
    throw refuseCommand(first, args[1]);
  }
  const command: Command = COMMANDS[found.name];
  const scanner = new Scanner(found.name, command);
  const isHelp = scanner.scan(args, found.next);
  if (isHelp) return help(found.name.split(' '));
  scanner.check();
  return { command: found.name, flags: scanner.flags, rest: scanner.rest } as Invocation;
}

function help(words: string[]): Invocation {
  return { command: 'help', flags: {}, rest: words };
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
  readonly flags: FlagValues = {};
  readonly rest: string[] = [];
  readonly #name: CommandName;
  readonly #command: Command;

  constructor(name: CommandName, command: Command) {
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
      if (argument === '--help' || argument === '-h') return true;
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
      this.flags[name] = true;
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
    const known = this.flags[name];
    if (flag.isList || flag.isRepeatable) {
      const values = flag.isList ? value.split(',').map((part) => part.trim()) : [value];
      this.flags[name] = [...(Array.isArray(known) ? known : []), ...values.filter(Boolean)];
      return;
    }
    // Two policies of which one is silently dropped would be a hole.
    if (known !== undefined) throw this.#refuse(`--${name} is given twice`);
    this.#checkChoice(value, flag.choices, `--${name}`);
    this.flags[name] = value;
  }

  check(): void {
    for (const name of Object.keys(this.flags)) {
      const flag = this.#command.flags[name];
      const clash = flag?.conflicts?.find((other) => other in this.flags);
      if (clash !== undefined) throw this.#refuse(`--${name} and --${clash} exclude each other`);
      const missing = flag?.requires;
      if (missing !== undefined && !(missing in this.flags)) {
        throw this.#refuse(`--${name} needs --${missing}`);
      }
    }
    const { name = '', min = 0, max = 0, choices } = this.#command.positional ?? {};
    const count = this.rest.length;
    if (count < min) throw this.#refuse(`${this.#name} needs ${name}`);
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
    return new AssayError('E_USAGE', `${first} needs one of ${list}${problem}`, {
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
    { hint: `To run a program inside the sandbox: assay sandbox -- ${first}` },
  );
}

function quote(text: string): string {
  return `\`${text}\``;
}
