import { hideHeader, hideNamed, holdsHeader } from './named-values.ts';
import { splitQuotes, unquote } from './quotes.ts';
import { hideAddresses, hideSignatures, hideTokens, redactWord } from './redact-word.ts';
import { REDACTED } from './redaction-mark.ts';
import { WordReader } from './word-reader.ts';

/** Space, where a redirection counts as such and a line may go on; what ends a command or begins one; a word. */
const PART =
  /((?:[^\S\n]|&>|[<>]&?|\\\r?\n)+)|([\n;&|()`])|(?:"(?:[^"\\]|\\[^])*"?|'[^']*'?|\\[^]|[^\s"'\\;&|()`<>])+|[^]/g;
const QUOTED = /"(?:[^"\\]|\\[^])*"?|'[^']*'?/g;
/** What is more than a word: `x="$(command --flag)"`. */
const HOLDS_COMMAND = /[\s;&|()`<>]/;
/** A command line in the code of a program: `["curl","-u","a:b"]`. */
const LIST = /^\[(?:"[^"\\]*"|'[^'\\]*')(?:,(?:"[^"\\]*"|'[^'\\]*'))+\]?$/;

/** With nothing before it; of `Basic`, which is also a word, only what cannot be the next word. */
const SCHEME =
  /(?<!\w)((?:[Bb]earer|BEARER)[^\S\n]{1,8}(?=[\w+/.~-]{0,64}(?:\d|[a-z][A-Z]))|(?:[Bb]asic|BASIC)[^\S\n]{1,8}(?=[\w+/.~-]{0,200}=|(?=[\w+/.~-]{0,64}\d)(?=[\w+/.~-]{0,64}[A-Z])[\w+/.~-]{0,64}[a-z]|(?:[\w+/.~-]{0,40}?[a-z][A-Z]){2}))[\w+/=.~-]{8,}/g;
/** Parameters of an `Authorization` header that nothing else gives away. */
const PARAMETER = /((?<!\w)(?:Signature=|response=\\?"))[\w+/-]{16,}={0,2}/g;

const MAX_DEPTH = 4;
const MAX_OPEN = 100;

/** Takes the credentials out of a text that may hold command lines itself, as what `sh -c` is given. */
export function redactScript(script: string, depth = 0): string {
  if (depth > MAX_DEPTH) return script;
  const commands = new Commands();
  const shown = hideTokens(script).replaceAll(PART, (part, space?: string, mark?: string) => {
    if (mark !== undefined) commands.pass(mark);
    return space === undefined && mark === undefined
      ? redactPart(part, commands.reader, depth)
      : part;
  });
  const plain = hideSignatures(shown)
    .replace(SCHEME, `$1${REDACTED}`)
    .replace(PARAMETER, `$1${REDACTED}`);
  return hideNamed(plain, 'script');
}

/** An argument, or a quoted word of a script, which is one there. */
export function redactArgument(argument: string, words: WordReader, depth = 0): string {
  const { place } = words;
  if (words.isSecret(argument)) return REDACTED;
  const glued = words.read(argument);
  const hasSpace = /\s/.test(argument);
  if (place === 'code' && HOLDS_COMMAND.test(argument)) return redactScript(argument, depth + 1);
  // `NAME=value` and more words is a script wherever it is not known to be a variable.
  const isOne = !hasSpace || place === 'variable' || argument.startsWith('-');
  if (glued !== undefined && isOne) return glued + REDACTED;
  const isHeader = place === 'header' || holdsHeader(argument);
  const shown = (isHeader ? hideHeader(argument) : undefined) ?? argument;
  return hasSpace ? redactScript(shown, depth + 1) : redactWord(shown);
}

function redactPart(word: string, words: WordReader, depth: number): string {
  if (LIST.test(word)) return word.replaceAll(QUOTED, (item) => redactPart(item, words, depth));
  const quoted = splitQuotes(word);
  if (quoted) return quoted.open + redactArgument(quoted.text, words, depth) + quoted.close;
  const isHeader = words.place === 'header' || holdsHeader(word);
  const bare = toBare(word);
  if (words.isSecret(bare)) return hideIn(word, bare);
  const glued = words.read(bare);
  if (glued !== undefined) return glued + REDACTED;
  const shown = (isHeader ? hideHeader(word) : undefined) ?? word;
  const inner = shown.replaceAll(QUOTED, (part) => {
    const { open, text, close } = splitQuotes(part) ?? { open: '', text: part, close: '' };
    return HOLDS_COMMAND.test(text) ? open + redactScript(text, depth + 1) + close : part;
  });
  return hideAddresses(inner);
}

function hideIn(word: string, secret: string): string {
  const at = word.indexOf(secret);
  return at < 0 ? REDACTED : word.slice(0, at) + REDACTED + word.slice(at + secret.length);
}

/** Without quotes and what code has around them, and on one line. */
function toBare(word: string): string {
  const inner = word.replace(/^[[{]+(?=["'])/, '').replace(/(?<=["'])[\]},]+$/, '');
  return unquote(inner).replaceAll(/\\\r?\n/g, '');
}

/** The commands of a script; one inside another does not end it. */
class Commands {
  readonly #readers = [new WordReader()];
  #isQuoting = false;

  get reader(): WordReader {
    return this.#readers.at(-1) ?? new WordReader();
  }

  /** Goes past what stands between two commands. */
  pass(mark: string): void {
    if (mark === '`') this.#isQuoting = !this.#isQuoting;
    const isOpening = mark === '(' || (mark === '`' && this.#isQuoting);
    const isClosing = mark === ')' || (mark === '`' && !this.#isQuoting);
    if (isClosing && this.#readers.length > 1) this.#readers.pop();
    else if (isOpening && this.#readers.length < MAX_OPEN) this.#readers.push(new WordReader());
    else this.#readers[this.#readers.length - 1] = new WordReader();
  }
}
