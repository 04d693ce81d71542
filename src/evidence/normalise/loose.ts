import type { Dictionary } from './dictionary.ts';
import { MASK, mergeMasks } from './masks.ts';
import type { NoteMask } from './masks.ts';

export interface LooseContext {
  readonly dictionary: Dictionary;
  /** Tokens of names that stay: what the run keeps elsewhere is not made up. */
  readonly vocabulary: ReadonlySet<string>;
  readonly note: NoteMask;
}

const NANOID = /(?<![0-9A-Za-z_-])[0-9A-Za-z_-]{21}(?![0-9A-Za-z_-])/g;
/** Not a part of a version, nor behind the name of something that has versions: `cpython-311`, `utf-8`. */
const SMALL_NUMBER =
  /(?<![0-9A-Za-z_]|\d\.|\b(?:cpython|graalpy|pypy|py|python|node|gcc|clang|llvm|ruby|perl|php|jdk|utf|iso|sha|md)-)\d{1,5}(?![0-9A-Za-z_]|\.\d)/g;
const TOKEN = /[0-9A-Za-z_]+/g;

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
    if (/^(?:19|20)\d\d$/.test(part)) return part;
    note('number', part);
    return MASK;
  });
  return mergeMasks(numberless);
}

function maskToken(token: string, { dictionary, vocabulary, note }: LooseContext): string {
  if (token.length < MIN_LENGTH || vocabulary.has(token)) return token;
  // Words before it do not make the rest a word.
  const kept = findWordPrefix(token, dictionary);
  const rest = token.slice(kept.length);
  if (dictionary.isWordy(rest)) return token;
  note('loose', rest);
  return kept + MASK;
}

/** `tmp_obj_` of `tmp_obj_x8Zk2Q`. */
function findWordPrefix(token: string, dictionary: Dictionary): string {
  const prefix = /^((?:[a-z]{2,8}_)+)[0-9A-Za-z]{6}$/.exec(token)?.[1] ?? '';
  const isWords = prefix
    .split('_')
    .every((word) => word === '' || dictionary.isWordy(`${word}_file`));
  return isWords ? prefix : '';
}

/** Tokens of a name that could be random ones. */
export function listTokens(name: string): readonly string[] {
  return name.match(/[0-9A-Za-z_]{6,}/g) ?? [];
}
