import { PROGRAM_FLAGS, type ProgramFlag } from './program-flags.ts';
import { unquote } from './quotes.ts';
import { isSecretValue, isSmallWord, judgeName } from './secret-values.ts';

/** What a word is by what stands before it: code, a header, a variable with its value. */
export type Place = 'code' | 'header' | 'variable' | 'plain';

/** After what they look for stands where they look. */
const SEARCH = /^(?:[ef]?grep|rg|ag|ack)$/;
const SHELL = /^(?:ba|da|a|z|k|mk|fi)?sh$/;
/** Its flags that take a value. */
const SHELL_FLAG = /^(?:[-+][oO]|--rcfile|--init-file)$/;
/** All that follows them is code, or may be. */
const RUNNER = /^(?:ssh|eval|watch|[gm]?awk)$/;
const CODE_FLAG = /^-[A-Za-z]{0,8}[ceE]$|^-r$|^--(?:eval|command|exec|print)$/;
/** Their `-e` takes a variable, or several. */
const CONTAINER = /^(?:docker|podman|nerdctl)$/;
const ANSIBLE = /^ansible(?:-playbook)?$/;
const VARIABLE_FLAG =
  /^--(?:env|build-arg|set-string|from-literal|data-urlencode|form|form-string)$|^-(?:var|F)$/;
const HEADER_FLAG = /^(?:-H|--?(?:[a-z]{1,20}-)?header)$/;
const VARIABLE = /^\w+=/;

/** A value that begins with a dash, and no flag: `-Ab3dEf7hIj`. */
const DASHED_VALUE =
  /^-(?!-)(?:(?=[^\d]*\d)(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[\w+/.~-]{9,}|(?=[^\d]*\d+[A-Za-z]+\d)[\w+/.~-]{15,})={0,2}$/;

const NOTHING = (): boolean => false;

/** Goes through a command line and knows what each word makes of the next. */
export class WordReader {
  // The program need not come first: `sudo mysql -psecret`.
  #flags: readonly ProgramFlag[] = [];
  readonly #seen = new Set<string>();
  #isNext: (value: string) => boolean = NOTHING;
  #place: Place = 'plain';
  isSearch = false;
  #isShell = false;
  #hasShellValue = false;
  #isRunner = false;
  #dashE: Place = 'code';

  /** What the next word is. */
  get place(): Place {
    return this.#place;
  }

  /** Whether a word is the value of the one before. */
  isSecret(word: string): boolean {
    // A shell takes what follows `-c` for a script, with other flags between them or not.
    if (this.#isShell && this.#place === 'code') return false;
    const isFlag = word.length > 1 && word.startsWith('-') && !DASHED_VALUE.test(word);
    const isSecret = !isFlag && this.#isNext(word);
    if (isSecret) {
      this.#isNext = NOTHING;
      this.#place = this.#isRunner ? 'code' : 'plain';
    }
    return isSecret;
  }

  /** Takes a word that is none, and returns what of it can be shown when the rest is a secret. */
  read(word: string): string | undefined {
    this.#isNext = NOTHING;
    const program = word.slice(word.lastIndexOf('/') + 1);
    if (Object.hasOwn(PROGRAM_FLAGS, program)) this.#flags = PROGRAM_FLAGS[program] ?? [];
    if (SEARCH.test(program)) this.isSearch = true;
    this.#isShell = SHELL.test(program) || (this.#isShell && this.#isOfShell(word));
    if (RUNNER.test(program)) this.#isRunner = true;
    this.#place = this.#placeAfter(word, program);
    if (word.startsWith('pass:') && word.length > 5) return 'pass:'; // openssl
    const shown = word.startsWith('-') && word.length > 1 ? this.#readFlag(word) : undefined;
    if (!word.startsWith('-')) this.#readKey(word);
    this.#seen.add(word);
    if (CONTAINER.test(program)) this.#dashE = 'variable';
    if (ANSIBLE.test(program)) this.#dashE = 'plain';
    return shown ?? this.#readAssignment(word);
  }

  /** Whether a word is a flag of the shell before it, or the value of one; any other ends them. */
  #isOfShell(word: string): boolean {
    const isOfShell = word.startsWith('-') || this.#hasShellValue;
    this.#hasShellValue = SHELL_FLAG.test(word);
    return isOfShell;
  }

  #placeAfter(word: string, program: string): Place {
    const isFlag = word.startsWith('-');
    if (this.#isRunner || (isFlag && this.#place === 'code')) return 'code';
    if (word === '-e') return this.#dashE;
    if (CODE_FLAG.test(word)) return 'code';
    if (HEADER_FLAG.test(word)) return 'header';
    const goesOn = this.#place === 'variable' && VARIABLE.test(word) && this.#seen.has('env');
    return VARIABLE_FLAG.test(word) || program === 'env' || goesOn ? 'variable' : 'plain';
  }

  #readFlag(word: string): string | undefined {
    const known = this.#flags.find((one) => this.#isFlag(one, word));
    if (!known) {
      const name = word.replace(/^--?/, '');
      // One dash counts before a word: `-token`, as Go programs spell it.
      if (/^[\w.-]{2,}$/.test(name))
        this.#isNext = (value) => isSecretValue(name, value) && !isSmallWord(value);
      return undefined;
    }
    const { flag, holding = '' } = known;
    if (word !== flag && !isClusterEndingIn(known, word))
      return flag.startsWith('--') ? `${flag}=` : flag;
    if (!known.isGluedOnly) this.#isNext = (value) => value.includes(holding);
    return undefined;
  }

  #isFlag(known: ProgramFlag, word: string): boolean {
    const { flag, after, holding = '', isApartOnly } = known;
    if (after !== undefined && !this.#seen.has(after)) return false;
    if (word === flag || isClusterEndingIn(known, word)) return true;
    const isGlued = !isApartOnly && word.startsWith(flag.startsWith('--') ? `${flag}=` : flag);
    return isGlued && word.includes(holding);
  }

  /** `npm config set //host/:_authToken VALUE` */
  #readKey(word: string): void {
    if (!['set', 'config', 'configure'].some((verb) => this.#seen.has(verb))) return;
    const name = /(?<![\w-])[\w-]+$/.exec(word)?.[0] ?? '';
    if (/^(?:\w|\/\/)/.test(word) && /[_.:]/.test(word) && judgeName(name) === 'secret')
      this.#isNext = (value) => isSecretValue(name, value);
  }

  /** No dash at all is `env`'s `NAME=value`. */
  #readAssignment(word: string): string | undefined {
    const equals = word.indexOf('=');
    const name = word.slice(0, Math.max(equals, 0)).replace(/^--?/, '');
    if (name.length < 2 || !/^[\w.-]+$/.test(name)) return undefined;
    const value = unquote(word.slice(equals + 1));
    return isSecretValue(name, value) ? word.slice(0, equals + 1) : undefined;
  }
}

/** `-sSu` is `-s -S -u`. */
function isClusterEndingIn({ flag, isApartOnly }: ProgramFlag, word: string): boolean {
  if (isApartOnly === true || flag.length !== 2) return false;
  return /^-[A-Za-z]{2,8}$/.test(word) && word.at(-1) === flag[1];
}
