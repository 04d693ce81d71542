import { WORD_FILTER } from './words.ts';

/** Short words count only beside others, joined by underscores: three letters hit by chance too easily. */
const SHORT_WORDS = new Set(
  (
    'a abs add age all an and api app arg as at aux b bak bar baz big bin bit by c cfg cli cmd col conf cpu css csv ' +
    'cur d day db dep dev dir dns do doc dst e end env err etc ext f fd fix fn foo for fs gen get git go h hex how ' +
    'hub i id if img in inc inf ini int io is it js k key l len lib log ls m man map max md min mod msg my n net new ' +
    'no npm num obj of off old on one op opt or org os out p pid pip pkg png pre py q r ram raw ref rel req res row ' +
    'rs run s sdk sed seq set sh sql src ssh ssl sub sum sys t tag tar tcp tgz the tmp to top ts txt ui uid up uri ' +
    'url usr util v val var ver vm web x xml y yml z zip'
  ).split(' '),
);

/** What no general form covers, and is yet nobody's random name. */
const FIXED_NAMES = new Set(
  (
    'aarch64 arm64 armv7 base32 base64 cp1252 crc32 ed25519 id_dsa id_rsa id_ecdsa id_ed25519 ipv4 ipv6 latin1 log4j ' +
    'macosx md5sum mp3 mp4 posix1 python2 python3 rfc2822 rfc3339 rfc8785 sha1sum sha224 sha256 sha384 sha512 ' +
    'sha256sum sha512sum sqlite3 utf16 utf32 utf8 uint8 uint16 uint32 uint64 int8 int16 int32 int64 float32 float64 ' +
    'win32 win64 x86_64 amd64 i386 i686 ppc64le riscv64 s390x wasm32 wasi32 k8s l10n i18n a11y conftest'
  ).split(' '),
);

export interface Dictionary {
  /** Whether `text`, in lower case, is an English or programming word of four letters or more. */
  isWord(text: string): boolean;
  /** Whether a token of letters, digits and underscores reads as words, with a few digits at most. */
  isWordy(token: string): boolean;
  /** The share of the letters of `text` that stand in words, from 0 to 1. */
  wordShare(text: string): number;
}

export function makeDictionary(): Dictionary {
  const bytes = Buffer.from(WORD_FILTER.base64, 'base64');
  const known = new Map<string, boolean>();

  function isWord(text: string): boolean {
    let is = known.get(text);
    if (is === undefined) {
      is = hasWord(bytes, text) || stemsOf(text).some((stem) => hasWord(bytes, stem));
      known.set(text, is);
    }
    return is;
  }

  /** Letters in all, in words of four letters and more, and in short words that are a part of their own. */
  function countLetters(token: string): { all: number; inWords: number; inShortWords: number } {
    const counts = { all: 0, inWords: 0, inShortWords: 0 };
    const parts = token.split('_');
    for (const part of parts) {
      const isShort = parts.length > 1 && SHORT_WORDS.has(part.toLowerCase());
      for (const piece of splitPieces(part)) {
        counts.all += piece.length;
        if (isShort) counts.inShortWords += piece.length;
        else if (piece.length >= 4 && isWord(piece.toLowerCase())) counts.inWords += piece.length;
      }
    }
    return counts;
  }

  function isWordyShort(token: string, digits: number): boolean {
    const { all, inWords, inShortWords } = countLetters(token);
    if (all === 0 || inWords + inShortWords !== all) return false;
    if (/^[A-Za-z_]{5,}(?:19|20)\d\d$/.test(token)) return true;
    return /^[A-Za-z_]+[0-9]{0,2}$/.test(token) && (all >= 5 || digits === 0);
  }

  function isWordyLong(token: string, digits: number): boolean {
    if (!token.split('_').every((part) => /^[A-Za-z]*[0-9]*$/.test(part))) return false;
    const { all, inWords, inShortWords } = countLetters(token);
    // Short words are no proof, but no counter-proof either.
    const others = all - inShortWords;
    if (others === 0) return all > 0 && digits === 0;
    const isMostlyWords = inWords >= 0.75 * others && others - inWords <= 3;
    return isMostlyWords && digits <= Math.min(4, Math.floor(others / 2));
  }

  function isWordy(token: string): boolean {
    if (FIXED_NAMES.has(token.toLowerCase()) || isDateNumber(token)) return true;
    const digits = token.replace(/[^0-9]/g, '').length;
    return token.length <= 10 ? isWordyShort(token, digits) : isWordyLong(token, digits);
  }

  function wordShare(text: string): number {
    const { all, inWords, inShortWords } = countLetters(text.replaceAll('-', '_'));
    return all === 0 ? 0 : (inWords + inShortWords) / all;
  }

  return { isWord, isWordy, wordShare };
}

/** `parseHTTPHeader2` is parse, HTTP, Header. */
function splitPieces(text: string): readonly string[] {
  return text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
}

/** Eight digits that are a day of these two centuries: somebody's data, not chance. */
function isDateNumber(token: string): boolean {
  return /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/.test(token);
}

function stemsOf(word: string): readonly string[] {
  return WORD_FILTER.endings
    .filter(([ending]) => word.length - ending.length >= 4 && word.endsWith(ending))
    .map(([ending, instead]) => word.slice(0, -ending.length) + instead);
}

/** scripts/make-words.mjs does the same. */
function hasWord(bytes: Uint8Array, word: string): boolean {
  if (word.length < 4) return false;
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let at = 0; at < word.length; at += 1) {
    first = Math.imul(first ^ word.charCodeAt(at), 0x01000193);
    second = Math.imul(second ^ word.charCodeAt(at), 0x5bd1e995);
    second ^= second >>> 15;
  }
  first ^= first >>> 16;
  for (let round = 0; round < WORD_FILTER.hashes; round += 1) {
    const bit = ((first + Math.imul(round, second | 1)) >>> 0) % WORD_FILTER.bits;
    if (((bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
