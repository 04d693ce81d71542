import type { RunRecord } from '../run-record.ts';
import type { Births } from './births.ts';
import { maskBornNames, MIN_FOUND_AGAIN } from './born-names.ts';
import {
  findCcaches,
  findDateDirectories,
  findObjectStores,
  findSpreadStores,
} from './dated-directories.ts';
import { isLockOwner } from './lock-links.ts';
import {
  CCACHE_ENTRY,
  isSpread,
  makeRangeTest,
  makeStrictMasks,
  MASK,
  maskSpread,
  mergeMasks,
} from './masks.ts';
import { escapeLiteral } from './places.ts';
import type { Places } from './places.ts';
import { isNameless, makeSpecialPaths, NAMELESS_FORM } from './special-paths.ts';
import { splitPath } from './split-path.ts';
import { MISSING } from './walks.ts';

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
  const objectStores = findObjectStores(listObjects(record, births));
  const spreadStores = findSpreadStores(births.listBorn());
  const ccaches = findCcaches(births.listBorn());
  const ancestors = nameAncestors(places);

  /** In a store, what it is spread over. */
  function isShard(name: string, directory: string): boolean {
    if (!/^[0-9a-f]{2}$/.test(name)) return false;
    return objectStores.has(directory) || spreadStores.has(directory);
  }

  /** In a cache of ccache, with its up to four levels of directories. */
  function isInCcache(directory: string): boolean {
    return ccaches.size > 0 && ccaches.has(directory.replace(/(?:\/[0-9a-v]){0,4}$/, ''));
  }

  /** What was looked for in a cache before it was made, or under a name that it never got. */
  function isSought(name: string, directory: string): boolean {
    return isSpread(name, directory) && spreadStores.has(splitPath(directory).directory);
  }

  function nameOf(path: string): string {
    const { directory, name } = splitPath(path);
    if (isNameless(name) && !births.isBorn(path)) return NAMELESS_FORM;
    if (dateDirectories.has(path)) return MASK;
    if (isShard(name, directory)) return MASK;
    if (isInCcache(directory)) {
      if (/^[0-9a-v]$/.test(name)) return MASK;
      if (!births.isBorn(path) && CCACHE_ENTRY.test(name)) return name.replace(CCACHE_ENTRY, MASK);
    }
    if (isSought(name, directory) && !births.isBorn(path)) return maskSpread(escapeLiteral(name));
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

  for (const { directory, mirror } of findMirrors(births.listBorn(), places.cwd)) {
    const form = directoryFormOf(directory);
    for (let at = splitPath(mirror).directory; at !== directory; at = splitPath(at).directory)
      forms.set(at, `${form}/\${UP}`);
    forms.set(mirror, `${form}/\${CWD}`);
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
      if (isLockOwner(text, path, masks.isProcess)) return MASK;
      const parts = text.split('/').map((part) => maskAgain(born.maskText(part, path)));
      return parts.join('/');
    },
    masked: born.masked,
  };
}

function* listObjects({ events }: RunRecord, births: Births): Iterable<string> {
  yield* births.listBorn();
  for (const event of events)
    if (event.kind === 'file' && MISSING.has(event.outcome)) yield event.path;
}

/**
 * Where the whole path of the working directory was made once more below another directory, as by an installation into
 * a stage or by a cache that keeps the paths of its sources. A lone name would be found in too many places.
 */
function* findMirrors(
  born: Iterable<string>,
  cwd: string,
): Iterable<{ readonly directory: string; readonly mirror: string }> {
  if (cwd.lastIndexOf('/') <= 0) return;
  for (const path of born)
    if (path.endsWith(cwd) && path !== cwd)
      yield { directory: path.slice(0, -cwd.length), mirror: path };
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
