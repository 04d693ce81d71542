import type { Dictionary } from './dictionary.ts';
import { MASK, mergeMasks } from './masks.ts';
import type { NoteMask } from './masks.ts';

export interface LooseContext {
  readonly dictionary: Dictionary;
  /** Tokens of names that stay: what the run keeps elsewhere is not made up. */
  readonly vocabulary: ReadonlySet<string>;
  /** Whether a number is that of a process of the run. */
  readonly isProcess: (number: number) => boolean;
  readonly note: NoteMask;
}

const NANOID = /(?<![0-9A-Za-z_-])[0-9A-Za-z_-]{21}(?![0-9A-Za-z_-])/g;
/** Not a part of a version, nor behind the name of something that has versions: `cpython-311`, `utf-8`. */
const SMALL_NUMBER =
  /(?<![0-9A-Za-z_]|\d\.|\b(?:cpython|graalpy|pypy|py|python|node|gcc|clang|llvm|ruby|perl|php|jdk|utf|iso|sha|md)-)\d{1,5}(?![0-9A-Za-z_]|\.\d)/g;
/** Too small a number to be told from others without the words before it. */
const BEHIND_WORDS = /^(\w*?[A-Za-z]_|_)(\d{1,4})(?![0-9A-Za-z])(\w*)$/;
const TOKEN = /[0-9A-Za-z_]+/g;

/** What git puts before it; any word may be a part of what was made up. */
const KEPT_PREFIX =
  /^(?:tmp_(?:obj|idx|pack|rev|mtimes|bitmap|graph)|refs|packs)_(?=[0-9A-Za-z]{6}$)/;

/** A random part is seldom shorter, and shorter ones are too often something else. */
const MIN_LENGTH = 6;

/**
 * Masks what does not read as words. Right only for names that nobody finds after the run: of those that stay it would
 * take every fourth.
 */
export function maskLoosely(name: string, context: LooseContext): string {
  const { dictionary, note } = context;
  const result = name.replace(NANOID, (part) => {
    if (!/[A-Z]/.test(part) || !/[a-z]/.test(part)) return part;
    if (dictionary.wordShare(part) >= 0.5) return part;
    note('nanoid', part);
    return MASK;
  });
  const wordy = result.replace(TOKEN, (token) => maskToken(token, context));
  // Only now: a random part that begins with a digit would make a version of the number before it.
  const numberless = wordy.replace(SMALL_NUMBER, (part) => {
    if (isYear(part)) return part;
    note('number', part);
    return MASK;
  });
  return mergeMasks(numberless);
}

function maskToken(token: string, context: LooseContext): string {
  const { dictionary, vocabulary, note } = context;
  const [, words = '', number = '', rest = ''] = BEHIND_WORDS.exec(token) ?? [];
  if (isProcessBehind(words, number, context)) {
    note('number', number);
    return words + MASK + maskToken(rest, context);
  }
  if (token.length < MIN_LENGTH || vocabulary.has(token)) return token;
  const kept = KEPT_PREFIX.exec(token)?.[0] ?? '';
  const part = token.slice(kept.length);
  if (dictionary.isWordy(part)) return token;
  note('loose', part);
  return kept + MASK;
}

/** Such as the 310 of `lib_tmp_310`, where a number of five digits or more would be masked by itself. */
function isProcessBehind(
  words: string,
  number: string,
  { dictionary, isProcess }: LooseContext,
): boolean {
  if (words === '' || isYear(number) || !isProcess(Number(number))) return false;
  return dictionary.isWordy(words.length < MIN_LENGTH ? `${words}file` : words);
}

export function isYear(number: string): boolean {
  return /^(?:19|20)\d\d$/.test(number);
}

/** Tokens of a name that could be random ones. */
export function listTokens(name: string): readonly string[] {
  return name.match(/[0-9A-Za-z_]{6,}/g) ?? [];
}
