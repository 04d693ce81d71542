import type { RunRecord } from '../run-record.ts';
import type { Births } from './births.ts';
import { findDateDirectories, findObjectStores } from './dated-directories.ts';
import { makeDictionary } from './dictionary.ts';
import { makeIdentityMask } from './identity.ts';
import { maskLoosely } from './loose.ts';
import { makeRangeTest, makeStrictMasks, MASK, mergeMasks } from './masks.ts';
import { escapeLiteral } from './places.ts';
import type { Places } from './places.ts';
import { maskSiblings } from './siblings.ts';
import { makeSpecialPaths } from './special-paths.ts';
import { splitPath } from './split-path.ts';
import { collectVocabulary } from './vocabulary.ts';

/** The general form of every name of a run. */
export interface Names {
  /** `requested` is what the program asked for, before links were resolved. */
  pathOf(path: string, requested?: string): string;
  /** The text of a symbolic link at `path`. */
  linkTextOf(text: string, path: string): string;
  /** Born paths whose own name was masked, with the rules that did it. */
  readonly masked: ReadonlyMap<string, readonly string[]>;
}

/** Shorter ones would be found again in places where they mean something else. */
const MIN_FOUND_AGAIN = 6;
const WORD_RUN = /[0-9A-Za-z_]+(?:-[0-9A-Za-z_]+)*/g;

export function makeNames(record: RunRecord, births: Births, places: Places): Names {
  const masks = makeStrictMasks(record);
  const maskIdentity = makeIdentityMask(record, births);
  const special = makeSpecialPaths(makeRangeTest(record.pids));
  const dateDirectories = findDateDirectories(births.born, masks);
  const objectStores = findObjectStores(births.born);
  const zones = new Set(places.zones);
  const ancestors = nameAncestors(places);

  const looseness = new Map<string, boolean>();
  function isLoose(path: string): boolean {
    if (zones.has(path) || path.startsWith('@')) return true;
    if (path === '' || places.tokens.has(path)) return false;
    const known = looseness.get(path);
    if (known !== undefined) return known;
    const is = births.gone.has(path) || isLoose(splitPath(path).directory);
    looseness.set(path, is);
    return is;
  }

  /** Parts that were masked somewhere. */
  const maskedParts = new Set<string>();
  const masked = new Map<string, string[]>();

  function noteFor(path: string): (rule: string, part: string) => void {
    return (rule, part) => {
      if (part.length >= MIN_FOUND_AGAIN) maskedParts.add(part);
      tell(path, rule);
    };
  }

  function tell(path: string, rule: string): void {
    const rules = masked.get(path);
    if (rules === undefined) masked.set(path, [rule]);
    else if (!rules.includes(rule)) rules.push(rule);
  }

  const bornForms = new Map<string, string>();
  for (const path of births.born)
    if (!isLoose(path)) {
      const { directory, name } = splitPath(path);
      const plain = places.replaceInName(escapeLiteral(name));
      bornForms.set(path, masks.apply(plain, directory, noteFor(path)));
    }
  const dictionary = makeDictionary();
  const vocabulary = collectVocabulary({ record, lastingForms: bornForms, isLoose });

  function maskPassing(path: string): string {
    const { directory, name } = splitPath(path);
    const note = noteFor(path);
    const own = maskIdentity(places.replaceInName(escapeLiteral(name)), path);
    const at = lengthOfTarget(own, births.renamedTo.get(path));
    const strict = masks.apply(own.slice(at), directory, note);
    const tail = maskLoosely(strict, { dictionary, vocabulary, note });
    if (at === 0) return tail;
    const junk = tail.replace(/^[-_]*(?=<\*>)/, '');
    return mergeMasks(masks.apply(own.slice(0, at), directory, note) + junk);
  }

  const loosePaths = [...births.born].filter(isLoose);
  for (const path of loosePaths) bornForms.set(path, maskPassing(path));
  maskSiblings(loosePaths, bornForms, (path) => tell(path, 'siblings'));

  const againForms = new Map<string, string>();
  /** A part that was masked once is masked wherever else it stands. */
  function maskAgain(name: string): string {
    if (maskedParts.size === 0 || name.length < MIN_FOUND_AGAIN || name.includes(MASK)) return name;
    const known = againForms.get(name);
    if (known !== undefined) return known;
    const form = mergeMasks(
      name.replace(WORD_RUN, (run) => {
        if (maskedParts.has(run)) return MASK;
        if (!run.includes('-')) return run;
        return run
          .split('-')
          .map((part) => (maskedParts.has(part) ? MASK : part))
          .join('-');
      }),
    );
    againForms.set(name, form);
    return form;
  }

  function nameOf(path: string): string {
    const { directory, name } = splitPath(path);
    if (dateDirectories.has(path)) return MASK;
    if (name.length === 2 && objectStores.has(directory) && /^[0-9a-f]{2}$/.test(name)) return MASK;
    return maskAgain(bornForms.get(path) ?? places.replaceInName(escapeLiteral(name)));
  }

  const forms = new Map<string, string>();
  function formOf(path: string): string {
    const known = places.tokens.get(path) ?? forms.get(path);
    if (known !== undefined) return known;
    const at = path.lastIndexOf('/');
    const form = at < 0 ? nameOf(path) : `${formOf(path.slice(0, at))}/${nameOf(path)}`;
    forms.set(path, form);
    return form;
  }
  forms.set('', '');

  function pathOf(path: string, requested?: string): string {
    return special.generalise(path, requested) ?? ancestors.get(path) ?? formOf(path);
  }

  return {
    pathOf,
    linkTextOf(text, path) {
      if (text.startsWith('/')) return pathOf(text);
      const note = (): void => {};
      return text
        .split('/')
        .map((part) => masks.apply(places.replaceInName(escapeLiteral(part)), '', note))
        .map((part) =>
          isLoose(path) ? maskLoosely(part, { dictionary, vocabulary, note }) : maskAgain(part),
        )
        .join('/');
    },
    masked,
  };
}

/** An atomic save: `settings.json.k2j4h6` is renamed to `settings.json`, which is a name of its own. */
function lengthOfTarget(name: string, target: string | undefined): number {
  if (target === undefined) return 0;
  const bare = splitPath(target).name.replace(/^\.+/, '');
  const dots = /^\.*/.exec(name)?.[0].length ?? 0;
  return bare.length >= 3 && name.startsWith(bare, dots) ? dots + bare.length : 0;
}

/** The directories above the working directory, for whoever lists them; what lies in them keeps its own name. */
function nameAncestors({ ancestors, tokens }: Places): ReadonlyMap<string, string> {
  return new Map(
    ancestors
      .map((path, index) => [path, `\${CWD}${'/..'.repeat(index + 1)}`] as const)
      .filter(([path]) => path !== '/' && !tokens.has(path)),
  );
}
