import { PROGRAM_FLAGS, type ProgramFlag } from './program-flags.ts';
import { KEYED_ADDRESS, NO_USER, PLAIN_USERINFO, USERINFO } from './secret-shapes.ts';
import { isHarmlessLooking, isSecretValue, judgeName } from './secret-values.ts';
import { TOKEN } from './token-pattern.ts';

/** Stands where a secret was, so that a reader sees that something is left out. */
export const REDACTED = '[redacted]';

/** A name and what joins it to its value: `name=`, `--name=`, `name: ` of a header, `"name": ` of JSON. */
const NAME = /(?<![\w.-])-{0,2}([A-Za-z_][\w.-]{0,100})(\\?["'])?\s?([=:])\s?/g;

/** `--name value` inside one argument, such as a script for `sh -c`. */
const FLAG = /(?<![\w-])--([A-Za-z][\w-]{0,100})\s{1,8}(?=[^\s-])/g;

const VALUE =
  /\[redacted\]|\\"(?:[^"\\]|\\[^"])*(?:\\"|$)|"(?:[^"\\]|\\.)*"?|'[^']*'?|(?:(?:Bearer|Basic|Token|Digest)\s{1,8})?[^\s&;'"]+/isy;

const VERSION = /^v?\d+(?:\.\d+)*(?:-[a-z0-9.]+)?$/i;

const SCHEME = /(?<!\w)(Bearer|Basic)(\s{1,8})[\w+/=.~-]{8,}/gi;

/** Whoever has the signature of an address may use it. */
const SIGNATURE = /([?&](?:sig|signature|x-(?:amz|goog)-(?:signature|credential))=)[^\s&"'#]+/gi;

/** Takes the credentials out of a text for display. Values that nothing gives away stay. */
export function redactText(text: string): string {
  let result = text;
  if (result.includes('@')) {
    result = result.replace(USERINFO, `$1$2${REDACTED}@`);
    result = result.replace(PLAIN_USERINFO, (all: string, user: string) =>
      NO_USER.test(user) ? all : `${REDACTED}@`,
    );
  }
  if (result.length >= 10) result = result.replace(TOKEN, REDACTED);
  if (result.includes('/')) result = result.replace(KEYED_ADDRESS, `$1${REDACTED}`);
  if (result.includes('=') || result.includes(':')) {
    result = hideAfter(NAME, result.replace(SIGNATURE, `$1${REDACTED}`));
  }
  if (result.includes(' ')) {
    result = hideAfter(FLAG, result.replace(SCHEME, `$1$2${REDACTED}`));
  }
  return result;
}

/** As USERINFO; a path does not keep two slashes in a row. */
const PATH_USERINFO = /(:\/{1,2})[^\s/@:]{1,200}:[^\s/@]{1,200}@/g;
const PATH_VALUE = /(?<![\w.-])([A-Za-z_][\w.-]{0,100})=([^/&;\s]+)/g;

/** Takes the credentials out of a path, and leaves names alone that only speak of them. */
export function redactPath(path: string): string {
  if (!isSuspicious(path)) return path;
  let result = path.replace(TOKEN, REDACTED);
  if (result.includes('@')) result = result.replace(PATH_USERINFO, `$1${REDACTED}@`);
  if (!result.includes('=')) return result;
  return result.replace(PATH_VALUE, (all: string, name: string, value: string, at: number) => {
    const isQuery = at > 0 && (result[at - 1] === '?' || result[at - 1] === '&');
    if (!isSecretValue(name, value) || (!isQuery && isHarmlessLooking(value))) return all;
    return `${name}=${REDACTED}`;
  });
}

/** The shortest token is as long. */
const MIN_TOKEN_LENGTH = 15;
const DOT = 0x2e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const AT = 0x40;

/** Whether a secret can be in a path at all. A regular expression would look at most characters several times. */
function isSuspicious(path: string): boolean {
  let run = 0;
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    if (code === EQUALS || code === AT) return true;
    run = code === SLASH || code === DOT ? 0 : run + 1;
    if (run >= MIN_TOKEN_LENGTH) return true;
  }
  return false;
}

/** Hides the value after each match of `pattern` whose first group is a secret's name. */
function hideAfter(pattern: RegExp, text: string): string {
  const names = new RegExp(pattern);
  const values = new RegExp(VALUE);
  let result = '';
  let copied = 0;
  for (let found = names.exec(text); found; found = names.exec(text)) {
    if (judgeName(found[1] ?? '') === 'harmless') continue;
    values.lastIndex = names.lastIndex;
    const value = values.exec(text)?.[0];
    if (value === undefined || !isHidden(found, value)) continue;
    result += text.slice(copied, names.lastIndex) + REDACTED;
    copied = names.lastIndex + value.length;
    names.lastIndex = copied;
  }
  return result + text.slice(copied);
}

function isHidden(found: RegExpExecArray, value: string): boolean {
  const [all, name = '', quote, join] = found;
  if (value.startsWith(REDACTED)) return true;
  if (join !== ':') return isSecretValue(name, unquote(value));
  // `Cookie: a=b` is a header, and so is `X-Api-Key:abc`; `secrets:/run`, `auth:login` and `token:1.2` are not.
  if (all.endsWith(':') && quote === undefined) {
    if (found.input[found.index - 1] === '/' || !/^[^/:].*\w{4}/.test(value)) return false;
    return !isHarmlessLooking(value) && !VERSION.test(value);
  }
  return !value.startsWith('//') && isSecretValue(name, unquote(value));
}

function unquote(value: string): string {
  return value.replace(/^\\?["']/, '').replace(/\\?["']$/, '');
}

/** A command line for display: redactText on each argument, and the argument after a flag such as `--password`. */
export function redactArgv(argv: readonly string[]): string[] {
  const words = new WordReader();
  return argv.map((argument) => {
    if (!words.isSecret(argument)) return redactArgument(argument, words);
    return REDACTED;
  });
}

function redactArgument(argument: string, words: WordReader): string {
  const glued = words.read(argument);
  if (glued !== undefined) return glued + REDACTED;
  return redactText(/\s/.test(argument) ? redactScript(argument) : argument);
}

/** A part of a script: in quotes, between them, or the space between two. */
const SCRIPT_WORD = /\s+|(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s"'])+/gs;

/** What `sh -c` is given holds command lines itself. */
function redactScript(script: string): string {
  const words = new WordReader();
  return script.replaceAll(SCRIPT_WORD, (word) => {
    if (/^\s/.test(word)) return word;
    const bare = unquote(word);
    if (words.isSecret(bare)) return REDACTED;
    const glued = words.read(bare);
    return glued === undefined ? word : glued + REDACTED;
  });
}

/** Goes through a command line and knows what each word makes of the next. */
class WordReader {
  // The program need not come first: `sudo mysql -psecret`.
  #flags: readonly ProgramFlag[] = [];
  readonly #seen = new Set<string>();
  #isNext: (value: string) => boolean = () => false;

  /** Whether a word is the value of the one before. */
  isSecret(word: string): boolean {
    const isFlag = word.length > 1 && word.startsWith('-');
    const isSecret = !isFlag && this.#isNext(word);
    if (isSecret) this.#isNext = () => false;
    return isSecret;
  }

  /** Takes a word that is none, and returns what of it can be shown when the rest is a secret. */
  read(word: string): string | undefined {
    this.#isNext = () => false;
    const program = word.slice(word.lastIndexOf('/') + 1);
    if (Object.hasOwn(PROGRAM_FLAGS, program)) this.#flags = PROGRAM_FLAGS[program] ?? [];
    if (word.startsWith('pass:') && word.length > 5) return 'pass:'; // openssl
    const shown = word.startsWith('-') && word.length > 1 ? this.#readFlag(word) : undefined;
    if (!word.startsWith('-')) this.#readKey(word);
    this.#seen.add(word);
    return shown ?? this.#readAssignment(word);
  }

  #readFlag(word: string): string | undefined {
    const known = this.#flags.find(({ flag, after, holding }) => {
      if (after !== undefined && !this.#seen.has(after)) return false;
      if (word === flag || isClusterEndingIn(flag, word)) return true;
      const isGlued = word.startsWith(flag.startsWith('--') ? `${flag}=` : flag);
      return isGlued && word.includes(holding ?? '');
    });
    if (!known) {
      const name = word.replace(/^--?/, '');
      // One dash counts before a word: `-token`, as Go programs spell it.
      if (/^[\w.-]{3,}$/.test(name)) this.#isNext = (value) => isSecretValue(name, value);
      return undefined;
    }
    if (word !== known.flag && !isClusterEndingIn(known.flag, word))
      return known.flag.startsWith('--') ? `${known.flag}=` : known.flag;
    if (!known.isGluedOnly) this.#isNext = (value) => value.includes(known.holding ?? '');
    return undefined;
  }

  /** `npm config set //host/:_authToken VALUE` */
  #readKey(word: string): void {
    if (!['set', 'config', 'configure'].some((verb) => this.#seen.has(verb))) return;
    const name = /[\w-]+$/.exec(word)?.[0] ?? '';
    if (/^(?:\w|\/\/)/.test(word) && /[_.:]/.test(word) && judgeName(name) === 'secret')
      this.#isNext = (value) => isSecretValue(name, value);
  }

  /** No dash at all is `env`'s `NAME=value`. */
  #readAssignment(word: string): string | undefined {
    const equals = word.indexOf('=');
    const name = word.slice(0, Math.max(equals, 0)).replace(/^--?/, '');
    if (name.length < 3 || !/^[\w.-]+$/.test(name)) return undefined;
    return isSecretValue(name, word.slice(equals + 1)) ? word.slice(0, equals + 1) : undefined;
  }
}

/** `-sSu` is `-s -S -u`. */
function isClusterEndingIn(flag: string, word: string): boolean {
  return flag.length === 2 && /^-[A-Za-z]{2,8}$/.test(word) && word.at(-1) === flag[1];
}
