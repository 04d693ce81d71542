import type { Hide } from '../core/known-secrets.ts';
import { redactArgv } from '../core/redact.ts';
import type { CommandLine, ImageState, ProgramLine } from './decode-line.ts';
import type { Program } from './event.ts';
import type { ShownNames } from './shown-names.ts';

const MAX_PROGRAMS = 16_384;
/** Of images and scripts, in all: every program is told by name several times, and names may be long. */
const MAX_NAME_CHARACTERS = 8 << 20;
/** Of command lines, in all. */
const MAX_COMMAND_CHARACTERS = 4 << 20;

/** Stands where the rest of a command line was left out, or other command lines. */
export const TRUNCATED = '[truncated]';

interface KnownProgram extends Program {
  count: number;
  readonly commands: string[][];
}

/** The programs of a run, by number. */
export class ProgramTable {
  readonly #hide: Hide;
  readonly #names: ShownNames;
  readonly #programs = new Map<number, KnownProgram>();
  readonly #images = new Map<number, ImageState>();
  #nameCharacters = 0;
  #commandCharacters = 0;

  constructor(hide: Hide, names: ShownNames) {
    this.#hide = hide;
    this.#names = names;
  }

  get count(): number {
    return this.#programs.size;
  }

  get isFull(): boolean {
    return this.#programs.size >= MAX_PROGRAMS || this.#nameCharacters >= MAX_NAME_CHARACTERS;
  }

  get(id: number): Program | undefined {
    return this.#programs.get(id);
  }

  add({ id, parent, image, script, digest, state, atMs, isPredicted }: ProgramLine): void {
    if (this.#programs.has(id)) return;
    this.#images.set(id, state);
    this.#nameCharacters += image.length + script.length;
    this.#programs.set(id, {
      id,
      parent,
      image: this.#names.show(image),
      ...(script && { script: this.#names.show(script) }),
      ...(digest && { digest }),
      ...(isPredicted && { isPredicted }),
      count: 1,
      atMs,
      commands: [],
    });
  }

  addCommand({ program, argv, isTruncated }: CommandLine): boolean {
    const known = this.#programs.get(program);
    if (!known) return false;
    const command = isTruncated
      ? [...redactArgv(this.#hideCut(argv)), TRUNCATED]
      : redactArgv(argv.map((argument) => this.#hide(argument)));
    // Two that differ in a secret only have become one.
    const text = JSON.stringify(command);
    if (known.commands.some((other) => JSON.stringify(other) === text)) return true;
    this.#commandCharacters += text.length;
    if (this.#commandCharacters <= MAX_COMMAND_CHARACTERS) known.commands.push(command);
    else if (known.commands.at(-1)?.[0] !== TRUNCATED) known.commands.push([TRUNCATED]);
    return true;
  }

  /** Without its last word, which may be the beginning of a secret that nothing gives away any more. */
  #hideCut(argv: readonly string[]): string[] {
    const shown = argv.slice(0, -1).map((argument) => this.#hide(argument));
    const last = this.#hide(argv.at(-1) ?? '', 'cut').replace(/\s*\S*$/, '');
    return last === '' ? shown : [...shown, last];
  }

  setCount(id: number, count: number): boolean {
    const known = this.#programs.get(id);
    if (known) known.count = count;
    return known !== undefined;
  }

  list(): Program[] {
    return [...this.#programs.values()];
  }

  /** What the images were read from, to find the digest of one that has none, as long as it is the same file. */
  get images(): ReadonlyMap<number, ImageState> {
    return this.#images;
  }
}
