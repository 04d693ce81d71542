import { KNOWN_SCHEME } from './named-values.ts';
import { redactArgument, redactScript } from './redact-script.ts';
import { redactWord } from './redact-word.ts';
import { markName, REDACTED } from './redaction-mark.ts';
import { isHarmlessLooking, isProse, isSecretValue } from './secret-values.ts';
import { TOKEN } from './token-pattern.ts';
import { WordReader } from './word-reader.ts';

/** `token:` as a word of its own. */
const NAME_WORD = /^["']?([A-Za-z_][\w.-]{0,100})["']?:$/;

/** Takes the credentials out of a text for display. Values that nothing gives away stay. */
export function redactText(text: string): string {
  return /\s/.test(text) ? redactScript(text) : redactWord(text);
}

/** The name of a host; no mark of a path, since a colon is before a port there. */
export function redactHost(name: string): string {
  return name.replace(TOKEN, REDACTED);
}

/** As USERINFO; a path does not keep two slashes in a row. */
const PATH_USERINFO = /(:\/{1,2})(?!\[redacted:\w{16}\]@)[^\s/@:]{1,200}:[^\s/@]{1,200}@/g;
const PATH_VALUE = /(?<![\w.-])([A-Za-z_][\w.-]{0,100})=([^/&;\s]+)/g;
const MARK = /^\[redacted:\w{16}\]$/;

/**
 * Takes the credentials out of a path, and leaves names alone that only speak of them. What has the shape of a key has
 * a mark of its own; a value that only its name gives away has none, since a short one could be found by it.
 */
export function redactPath(path: string): string {
  if (!isSuspicious(path)) return path;
  let result = path.replace(TOKEN, markName);
  if (result.includes('@')) result = result.replace(PATH_USERINFO, `$1${REDACTED}@`);
  if (!result.includes('=')) return result;
  return result.replace(PATH_VALUE, (all: string, name: string, value: string, at: number) => {
    const isQuery = at > 0 && (result[at - 1] === '?' || result[at - 1] === '&');
    if (!isSecretValue(name, value) || (!isQuery && isHarmlessLooking(value))) return all;
    return MARK.test(value) ? all : `${name}=${REDACTED}`;
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

/** A command line for display: redactText on each argument, and the argument after a flag such as `--password`. */
export function redactArgv(argv: readonly string[]): string[] {
  const words = new WordReader();
  return argv.map((argument, index) => {
    const shown = redactArgument(argument, words);
    return shown !== REDACTED && !words.isSearch && followsName(argv, index) ? REDACTED : shown;
  });
}

/** Whether an argument is the value of `token:` before it, or of `Authorization: Bearer`. Flags are no values. */
function followsName(argv: readonly string[], index: number): boolean {
  const hasScheme = KNOWN_SCHEME.test(argv[index - 1] ?? '');
  const at = index - (hasScheme ? 2 : 1);
  const name = NAME_WORD.exec(argv[at] ?? '')?.[1];
  const [value = '', ...more] = argv.slice(index, index + 3);
  if (name === undefined || !isSecretValue(name, value)) return false;
  if (value.startsWith('-') || (!hasScheme && KNOWN_SCHEME.test(value))) return false;
  return hasScheme || !isProse([value, ...more].join(' '));
}
