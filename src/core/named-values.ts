import { mapQuotes, unquote } from './quotes.ts';
import { REDACTED } from './redaction-mark.ts';
import { isHarmlessLooking, isProse, isSecretValue, judgeName } from './secret-values.ts';

/** What a value may run on to: in a script, not beyond the word. */
export type TextKind = 'word' | 'script';

/** A letter, a digit, `-`, `.` or `_` as an address may spell it. */
const ENCODED = '%(?:2[de]|5f|3\\d|4[1-9a-f]|5[\\da]|6[1-9a-f]|7[\\da])';

/** A name and what joins it to its value: `name=`, `--name=`, `name: ` of a header, `"name": ` of JSON, `["name"] = `. */
const NAME = new RegExp(
  `(?<![\\w.%-])-{0,2}((?:[a-z_]|${ENCODED})(?:[\\w.-]|${ENCODED}){0,100})(\\\\?["'])?\\]?[^\\S\\n]{0,8}(\\+?={1,3}>?|:=|:)[^\\S\\n]{0,8}`,
  'gi',
);

/** `setdefault("name", "value")`, and others that take a name and a value. */
const CALL =
  /(?<!\w)(?:setdefault|[pg]?utenv|setenv|set|set_?(?:request_?)?header|add_?header|header|append|setItem)\(\s{0,4}\\?["']([a-z_][\w.-]{0,100})\\?["']\s{0,4},\s{0,4}(?=\\?["'])/gi;

/** `auth=("user", "password")` */
const PAIR =
  /((?<!\w)auth=\w{0,40}\(\s{0,4}(?:"[^"]{0,200}"|'[^']{0,200}')\s{0,4},\s{0,4})(?:"[^"\n;&|`$]{0,500}"|'[^'\n;&|`$]{0,500}')/g;

/** As SQL has it, and `.netrc`. */
const SQL = /((?<!\w)(?:password|identified(?: with \w{1,40})? by)\s{1,4})'[^'\n;&|`$()]{1,200}'/gi;
const NETRC = /((?<!\w)login\s{1,4}[^\s"']{1,200}\s{1,4}password\s{1,4})[^\s&;'"|`<>()]+/g;

export const KNOWN_SCHEME =
  /^(?:Bearer|Basic|Token|Digest|Negotiate|NTLM|ApiKey|Api-Key|OAuth|DPoP|Hawk|HOBA|MAC|Mutual|GNAP|vapid|SharedKey|SSWS|Bot|GenieKey|Splunk|PrivateToken|GoogleLogin|AWS|AWS4-HMAC-SHA256|SCRAM-SHA-(?:1|256))$/i;

const HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie)$/i;

const SCHEMES = '(?:(?:Bearer|Basic|Token|Digest)\\s{1,8})?';
/** Already hidden, with what is left behind it; in braces, as ODBC has it; plain, or behind the end of a quoted part. */
const VALUES: Readonly<Record<TextKind, RegExp>> = {
  word: makeValue(`[^\\s&;'"]`),
  script: makeValue(`[^\\s&;'"|\`<>()]`),
};

function makeValue(character: string): RegExp {
  return new RegExp(
    `^(?:\\[redacted\\](?:(?![,}\\])])${character}+)?|\\{[^{}"'\\s]{1,200}\\}|(?:\\\\?["'])?(?!\\\\?["'])${SCHEMES}${character}+)`,
    'i',
  );
}

/** All pairs of a cookie. */
const COOKIE = /^[^\s;'"`|&<>()]+(?:;[^\S\n]?[\w.-]{1,100}=[^\s;'"`|&<>()]*)*/;
/** The scheme and what follows it: a token, or parameters. */
const CREDENTIALS =
  /^(?:[a-z][\w-]{0,40}[^\S\n]{1,8}(?!\S{0,20}:\/\/|-))?[^\s,&;'"`|<>()]+(?:(?<==)"[^"\n;&|`$()]{0,300}")?(?:,[^\S\n]{0,4}[^\s,&;'"`|<>()]+(?:(?<==)"[^"\n;&|`$()]{0,300}")?)*/i;

/** A value is told by as much of it, so that a text of nothing but names takes no longer. */
const WINDOW = 2000;

const VERSION = /^v?\d+(?:\.\d+)*(?:-[a-z0-9.]+)?$/i;

/** Hides the values that stand beside the name of a secret. */
export function hideNamed(text: string, kind: TextKind): string {
  let result = text;
  if (result.includes('(')) {
    result = result.replace(PAIR, `$1${REDACTED}`);
    result = hideAfter(CALL, result, kind);
  }
  if (kind === 'script')
    result = result.replace(SQL, `$1${REDACTED}`).replace(NETRC, `$1${REDACTED}`);
  return result.includes('=') || result.includes(':') ? hideAfter(NAME, result, kind) : result;
}

/** Hides the value after each match of `pattern` whose first group is a secret's name. */
function hideAfter(pattern: RegExp, text: string, kind: TextKind): string {
  const names = new RegExp(pattern);
  let quotes: Map<number, number> | undefined;
  let result = '';
  let copied = 0;
  for (let found = names.exec(text); found; found = names.exec(text)) {
    const name = decode(found[1] ?? '');
    if (judgeName(name) === 'harmless') continue;
    const at = names.lastIndex;
    quotes ??= mapQuotes(text);
    const end = quotes.get(at);
    const pattern = chooseValue(name, found, kind);
    const start = text.slice(at, end ?? at + WINDOW);
    const value = end === undefined ? pattern.exec(start)?.[0] : start;
    if (value === undefined || !isHidden(name, found, value)) continue;
    if (found[3] === ':' && isSentence(value, start)) continue;
    const whole =
      value.length < WINDOW || end !== undefined ? value : pattern.exec(text.slice(at))?.[0];
    result += text.slice(copied, at) + REDACTED;
    copied = at + (whole ?? value).length;
    names.lastIndex = copied;
  }
  return result + text.slice(copied);
}

function decode(name: string): string {
  return name.includes('%') ? decodeURIComponent(name) : name;
}

function chooseValue(name: string, [, , quote, join]: RegExpExecArray, kind: TextKind): RegExp {
  if (join !== ':' || quote !== undefined || !HEADER.test(name)) return VALUES[kind];
  return /cookie/i.test(name) ? COOKIE : CREDENTIALS;
}

/** `Bearer` and what follows it are one value, and no sentence. */
function isSentence(value: string, text: string): boolean {
  return !KNOWN_SCHEME.test(/^\S+(?=\s)/.exec(value)?.[0] ?? '') && isProse(text);
}

function isHidden(name: string, found: RegExpExecArray, value: string): boolean {
  const [all, , quote, join] = found;
  if (value.startsWith(REDACTED)) return true;
  const isQuoted = /^\\?["']/.test(value);
  // `NAME= command` is a variable without a value.
  if (!isQuoted && /[^\s=]=+\s+$/.test(all)) return false;
  if (!isQuoted && /^[^\p{L}\p{N}]{1,2}$/u.test(value)) return false;
  if (join !== ':') return isSecretValue(name, isQuoted ? unquote(value) : toPlain(name, value));
  // `Cookie: a=b` is a header, and so is `X-Api-Key:abc`; `secrets:/run`, `auth:login` and `token:1.2` are not.
  if (all.endsWith(':') && quote === undefined) {
    if (found.input[found.index - 1] === '/' || !/^[^/:].*\w{4}/.test(value)) return false;
    return !isHarmlessLooking(value) && !VERSION.test(value);
  }
  return !value.startsWith('//') && isSecretValue(name, unquote(value));
}

/** `key=len)` and `key=itemgetter(1)` are code. */
function toPlain(name: string, value: string): string {
  return judgeName(name) === 'doubtful' ? value.replace(/[()[\]{},][^]*$/, '') : value;
}

/** Until its line ends. */
const HEADER_LINE =
  /^((?:-H|--?[\w-]{0,30}header=|[\w.:/-]{0,200}extraheader=)?\\?["']?)([a-z][\w.-]{0,100})([^\S\n]{0,4}:[^\S\n]{0,8})([^\n]+)([^]*)$/i;

/** Whether an argument brings the header along: `--header=Name: value`. */
export function holdsHeader(argument: string): boolean {
  return /^(?:-H|--?[\w-]{0,30}header=|[\w.:/-]{0,200}extraheader=)/i.test(argument);
}

/** A header without its value, all of it; undefined for one that holds no secret. */
export function hideHeader(text: string): string | undefined {
  const [, start = '', name = '', join = '', value = '', rest = ''] = HEADER_LINE.exec(text) ?? [];
  if (!isSecretValue(name, unquote(value))) return undefined;
  const [quote = ''] = /["']$/.exec(start) ?? [];
  return start + name + join + REDACTED + quote + rest;
}
