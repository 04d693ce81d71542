import { existsSync, readFileSync, statSync } from 'node:fs';
import { AssayError } from '../core/errors.ts';

/**
 * Something that the build made, beside the bundle; a path relative to anything else could be planted. The parts of a
 * bundle lie in folders of their own; the sources, as the tests load them, lie beside what was built.
 */
export function distPath(name: string): string {
  return `${distFolder()}/${name}`;
}

export function distFolder(): string {
  return findDist(__dirname);
}

function findDist(folder: string): string {
  switch (folder.slice(folder.lastIndexOf('/') + 1)) {
    case 'chunks':
    case 'library':
      return findDist(parentOf(folder));
    case 'launch':
      return `${parentOf(parentOf(folder))}/dist`;
    default:
      return folder;
  }
}

/** What is new to node takes long the first time, so every start does without `node:path` here. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function helperPath(): string {
  return `${builtFolder()}/${HELPER}`;
}

export function stewardPath(): string {
  return `${builtFolder()}/assay-steward`;
}

const HELPER = 'assay-helper';

/**
 * Where what was compiled for this machine lies: beside the program, or where that belongs to somebody else, in a folder of
 * this user's own. Whoever is the first to need it builds it.
 */
export function builtFolder(): string {
  const dist = distFolder();
  if (existsSync(`${dist}/${HELPER}`)) return dist;
  const own = findOwnFolder(dist);
  return own !== undefined && existsSync(`${own}/${HELPER}`) ? own : build(dist);
}

/**
 * What belongs to this user alone: helpers that were built here, and what `npm run engines` makes for one who is not root.
 * Undefined for somebody without a home.
 */
export function cacheFolder(): string | undefined {
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env;
  if (cache?.startsWith('/')) return `${cache}/assay`;
  return home?.startsWith('/') ? `${home}/.cache/assay` : undefined;
}

/** As scripts/set-up.mjs makes it; undefined where there is none that only this user writes. */
function findOwnFolder(dist: string): string | undefined {
  const idFile = `${dist}/build-id`;
  const cache = cacheFolder();
  if (cache === undefined || !existsSync(idFile)) return undefined;
  const own = `${cache}/built-${readFileSync(idFile, 'latin1')}`;
  const found = statSync(own, { throwIfNoEntry: false });
  const isOurs = found?.uid === process.getuid?.() && ((found?.mode ?? 0) & 0o022) === 0;
  return isOurs ? own : undefined;
}

function build(dist: string): string {
  const script = `${parentOf(dist)}/scripts/set-up.mjs`;
  if (!existsSync(script))
    throw new AssayError('E_HELPER_MISSING', `Cannot find the helper at ${dist}/${HELPER}`, {
      hint: 'Install assay again; in a clone, npm start builds it',
    });
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status, stdout } = spawnSync(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status === 0) return stdout;
  throw new AssayError('E_HELPER_MISSING', 'Cannot build the helper, for the reason above', {
    hint: 'It is built once on a machine, at first use',
  });
}
