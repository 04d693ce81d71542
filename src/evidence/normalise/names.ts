import type { RunRecord } from '../run-record.ts';
import type { Births } from './births.ts';
import { maskBornNames, MIN_FOUND_AGAIN } from './born-names.ts';
import { findDateDirectories, findObjectStores } from './dated-directories.ts';
import { makeRangeTest, makeStrictMasks, MASK, mergeMasks } from './masks.ts';
import { escapeLiteral } from './places.ts';
import type { Places } from './places.ts';
import { isNameless, makeSpecialPaths, NAMELESS_FORM } from './special-paths.ts';
import { splitPath } from './split-path.ts';

/** The general form of every name of a run. */
export interface Names {
  /** `requested` is what the program asked for, before links were resolved. */
  pathOf(path: string, requested?: string): string;
  /** The text of a symbolic link at `path`. */
  linkTextOf(text: string, path: string): string;
  /** Born paths whose own name was masked, with the rules that did it. */
  readonly masked: ReadonlyMap<string, readonly string[]>;
}

export function makeNames(record: RunRecord, births: Births, places: Places): Names {
  const masks = makeStrictMasks(record);
  const born = maskBornNames(record, { births, places, masks });
  const maskAgain = makeAgainMask(born.maskedParts);
  const special = makeSpecialPaths(makeRangeTest(record.pids));
  const dateDirectories = findDateDirectories(births.listBorn(), masks);
  const objectStores = findObjectStores(births.listBorn());
  const ancestors = nameAncestors(places);

  function nameOf(path: string): string {
    const { directory, name } = splitPath(path);
    if (isNameless(name) && !births.isBorn(path)) return NAMELESS_FORM;
    if (dateDirectories.has(path)) return MASK;
    if (name.length === 2 && objectStores.has(directory) && /^[0-9a-f]{2}$/.test(name)) return MASK;
    return maskAgain(born.forms.get(path) ?? places.replaceInName(escapeLiteral(name)));
  }

  /** Of directories only: most other paths are asked for once or twice. */
  const forms = new Map<string, string>(places.tokens);
  forms.set('', '');
  function directoryFormOf(path: string): string {
    let form = forms.get(path);
    if (form === undefined) {
      form = formOf(path);
      forms.set(path, form);
    }
    return form;
  }

  function formOf(path: string): string {
    const known = forms.get(path);
    if (known !== undefined) return known;
    const at = path.lastIndexOf('/');
    return at < 0 ? nameOf(path) : `${directoryFormOf(path.slice(0, at))}/${nameOf(path)}`;
  }

  /** An option or an address that was taken for a path: `-fresolution=/tmp/x` in some directory. */
  function formOfMixed(path: string): string | undefined {
    const at = path.search(/[=:]\//) + 1;
    if (at < 2 || !places.isInside(path.slice(at))) return undefined;
    return formOf(path.slice(0, at)) + formOf(path.slice(at));
  }

  function pathOf(path: string, requested?: string): string {
    const known = special.generalise(path, requested) ?? ancestors.get(path);
    return known ?? formOfMixed(path) ?? formOf(path);
  }

  return {
    pathOf,
    linkTextOf(text, path) {
      if (text.startsWith('/')) return pathOf(text);
      const parts = text.split('/').map((part) => maskAgain(born.maskText(part, path)));
      return parts.join('/');
    },
    masked: born.masked,
  };
}

const WORD_RUN = /[0-9A-Za-z_]+(?:-[0-9A-Za-z_]+)*/g;

/** A part that was masked once is masked wherever else it stands. */
function makeAgainMask(maskedParts: ReadonlySet<string>): (name: string) => string {
  const maskRun = (run: string): string => {
    if (maskedParts.has(run)) return MASK;
    if (!run.includes('-')) return run;
    const parts = run.split('-').map((part) => (maskedParts.has(part) ? MASK : part));
    return parts.join('-');
  };
  return (name) => {
    if (maskedParts.size === 0 || name.length < MIN_FOUND_AGAIN || name.includes(MASK)) return name;
    return mergeMasks(name.replace(WORD_RUN, maskRun));
  };
}

/** The directories above the working directory, for whoever lists them; what lies in them keeps its own name. */
function nameAncestors({ ancestors, tokens }: Places): ReadonlyMap<string, string> {
  return new Map(
    ancestors
      .map((path, index) => [path, `\${CWD}${'/..'.repeat(index + 1)}`] as const)
      .filter(([path]) => path !== '/' && !tokens.has(path)),
  );
}
