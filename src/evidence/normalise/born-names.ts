import type { RunRecord } from '../run-record.ts';
import { lengthOfTarget } from './atomic-save.ts';
import type { Births } from './births.ts';
import { makeDictionary } from './dictionary.ts';
import { makeIdentityMask } from './identity.ts';
import { makeLastNumberMask } from './last-numbers.ts';
import { makeLoosenessTest } from './looseness.ts';
import { maskLoosely } from './loose.ts';
import { mergeMasks } from './masks.ts';
import type { NoteMask, StrictMasks } from './masks.ts';
import { escapeLiteral } from './places.ts';
import type { Places } from './places.ts';
import { maskShards } from './shards.ts';
import { maskSiblings } from './siblings.ts';
import { splitPath } from './split-path.ts';
import { listMissing } from './missing-names.ts';
import { findLastingTokens, listCandidates } from './vocabulary.ts';

/** The last components of paths born in the run. */
export interface BornNames {
  /** By path, where it differs from the name as it is written. */
  readonly forms: ReadonlyMap<string, string>;
  /** Paths whose own name was masked, with the rules that did it. */
  readonly masked: ReadonlyMap<string, readonly string[]>;
  /** Parts that were masked; not short ones, numbers and dates, which are found again where they mean something else. */
  readonly maskedParts: ReadonlySet<string>;
  /** Masks the text of a symbolic link as if it were a name at `path`. */
  maskText(text: string, path: string): string;
}

export const MIN_FOUND_AGAIN = 6;
/** Rules that find numbers and dates. */
const NEVER_FOUND_AGAIN: ReadonlySet<string> = new Set(['identity', 'pid', 'stamp']);

export function maskBornNames(
  record: RunRecord,
  { births, places, masks }: { births: Births; places: Places; masks: StrictMasks },
): BornNames {
  const isLoose = makeLoosenessTest(births, places);
  const maskIdentity = makeIdentityMask(record, births);
  const maskLastNumber = makeLastNumberMask(births, masks.isProcess);
  const forms = new Map<string, string>();
  const masked = new Map<string, string[]>();
  const maskedParts = new Set<string>();

  function tell(path: string, rule: string): void {
    const rules = masked.get(path);
    if (rules === undefined) masked.set(path, [rule]);
    else if (!rules.includes(rule)) rules.push(rule);
  }

  function noteFor(path: string): NoteMask {
    const isBorn = births.isBorn(path);
    return (rule, part) => {
      if (isBorn && part.length >= MIN_FOUND_AGAIN && !NEVER_FOUND_AGAIN.has(rule))
        maskedParts.add(part);
      tell(path, rule);
    };
  }

  const loosePaths: string[] = [];
  for (const path of births.listBorn()) {
    if (isLoose(path)) {
      loosePaths.push(path);
      continue;
    }
    const { directory, name } = splitPath(path);
    const plain = places.replaceInName(escapeLiteral(name));
    const note = noteFor(path);
    const form = maskLastNumber(masks.apply(plain, directory, note), path, note);
    if (form !== plain) forms.set(path, form);
  }
  loosePaths.push(...listMissing(record, places).filter((path) => !births.isBorn(path)));
  const dictionary = makeDictionary();
  // Only now: what names that stay are made of decides what is odd in the others.
  const vocabulary = findLastingTokens({
    record,
    candidates: listCandidates(loosePaths, dictionary),
    lastingForms: forms,
    isLoose,
  });

  const { isProcess } = masks;
  function maskPassing(path: string): string {
    const { directory, name } = splitPath(path);
    const note = noteFor(path);
    const own = maskIdentity(places.replaceInName(escapeLiteral(name)), path, note);
    const target = births.renamedTo.get(path);
    const at = lengthOfTarget(own, target);
    const strict = masks.apply(own.slice(at), directory, note);
    const tail = maskLoosely(strict, { dictionary, vocabulary, isProcess, note });
    if (at === 0) return tail;
    const junk = tail.replace(/^[-_]*(?=<\*>)/, '');
    const head = masks.apply(own.slice(0, at), directory, note);
    // What it is renamed to may itself be a name for a moment.
    const isKept = target === undefined || !isLoose(target);
    return mergeMasks(
      (isKept ? head : maskLoosely(head, { dictionary, vocabulary, isProcess, note })) + junk,
    );
  }

  for (const path of loosePaths) forms.set(path, maskPassing(path));
  maskSiblings(loosePaths, forms, (path) => tell(path, 'siblings'));
  maskShards(loosePaths, forms, (path) => tell(path, 'shards'));

  return {
    forms,
    masked,
    maskedParts,
    maskText(text, path) {
      const note = (): void => {};
      const strict = masks.apply(places.replaceInName(escapeLiteral(text)), '', note);
      return isLoose(path)
        ? maskLoosely(strict, { dictionary, vocabulary, isProcess, note })
        : strict;
    },
  };
}
