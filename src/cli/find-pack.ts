import { readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AssayError } from '../core/errors.ts';
import { type LoadedPack, makePackDetector } from '../evidence/lint/pack-detector.ts';
import { readPack } from '../evidence/lint/read-pack.ts';

const PACK_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Loads each pack once. Two that share a name and version would have findings nobody can tell apart. */
export function loadPacks(names: readonly string[]): LoadedPack[] {
  const loaded = new Map<string, LoadedPack>();
  const files = new Set<string>();
  for (const name of names) {
    const file = findPackFile(name);
    const real = realpathSync(file);
    if (files.has(real)) continue;
    files.add(real);
    const pack = makePackDetector(readPack(readText(file), file));
    const { id } = pack.linted;
    if (loaded.has(id))
      throw new AssayError('E_PACK_INVALID', `Two different packs are called ${id}`, {
        hint: 'Leave one of them out, or give it another version',
      });
    loaded.set(id, pack);
  }
  return [...loaded.values()];
}

/**
 * The name of a pack in the user's configuration, a file, or a directory with a pack.yaml. In this order: a workspace
 * that is under review must not put a pack of its own in the place of one that is known by name.
 */
function findPackFile(name: string): string {
  const directory = packDirectory();
  const isName = PACK_NAME.test(name);
  const places = [
    ...(isName ? [join(directory, `${name}.yaml`), join(directory, name, 'pack.yaml')] : []),
    name,
    join(name, 'pack.yaml'),
  ];
  const found = places.find(isFile);
  if (found !== undefined) return found;
  throw new AssayError('E_PACK_INVALID', `There is no rule pack "${name}"`, {
    hint: `Name a file, a directory with a pack.yaml, or a pack in ${directory}`,
  });
}

function packDirectory(): string {
  const { XDG_CONFIG_HOME: configured } = process.env;
  // Relative paths are to be ignored, says the XDG Base Directory Specification.
  const base = configured?.startsWith('/') ? configured : join(homedir(), '.config');
  return join(base, 'assay/packs');
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const MAX_BYTES = 1024 * 1024;

function readText(file: string): string {
  try {
    if (statSync(file).size > MAX_BYTES) throw new Error('it is longer than 1 MiB');
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    throw new AssayError(
      'E_PACK_INVALID',
      `Cannot read the rule pack "${file}": ${(cause as Error).message}`,
      { cause },
    );
  }
}
