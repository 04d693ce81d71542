import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** What a tool of this host says about its registries: their addresses, or why it does not say. */
export type RegistryAnswer = { readonly urls: readonly string[] } | { readonly reason: string };

export interface RegistryInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/**
 * Asked at the root, and not in the workspace: a project that names a registry of its own must not open the network to
 * it. Only the user's and the system's configuration counts.
 */
const OUTSIDE = '/';
const TIMEOUT_MS = 20_000;

/** `npm config list --json` knows every source of npm's configuration; scopes may have registries of their own. */
export function askNpm({ env }: RegistryInput): RegistryAnswer {
  const output = ask('npm', ['config', 'list', '--json'], env);
  if (output === undefined) return { reason: 'npm did not answer' };
  const config = parseObject(output);
  const urls = Object.entries(config).flatMap(([key, value]) =>
    (key === 'registry' || key.endsWith(':registry')) && typeof value === 'string' ? [value] : [],
  );
  return urls.length > 0 ? { urls } : { reason: 'npm names no registry' };
}

/** The index that pip falls back to is known to pip alone, and so is where that index keeps its files. */
const PIP_DEFAULTS =
  'from pip._internal.models.index import PyPI; print(PyPI.simple_url); print("https://" + PyPI.file_storage_domain)';

export function askPip({ env }: RegistryInput): RegistryAnswer {
  const tool = ['pip3', 'pip'].find((name) => findProgram(name, env) !== undefined);
  const output = tool === undefined ? undefined : ask(tool, ['config', 'list'], env);
  if (output === undefined) return { reason: 'pip did not answer' };
  const settings = output.split('\n').flatMap((line) => {
    const [, key = '', value = ''] = /^([\w:.-]+)='(.*)'$/.exec(line.trim()) ?? [];
    return key === '' ? [] : [{ key, values: value.split(/\\n|\s+/).filter(Boolean) }];
  });
  const pick = (name: string): string[] =>
    settings.flatMap(({ key, values }) => (key.endsWith(`.${name}`) ? values : []));
  const indexes = pick('index-url');
  const urls = [...indexes, ...pick('extra-index-url'), ...pick('find-links')];
  if (indexes.length > 0) return { urls };
  const defaults = ask('python3', ['-I', '-c', PIP_DEFAULTS], env);
  if (defaults === undefined) return { reason: 'pip names no index' };
  return { urls: [...urls, ...defaults.split('\n').filter(Boolean)] };
}

/** Cargo prints no configuration; its files are read as far as registries go. */
export function askCargo({ env, home }: RegistryInput): RegistryAnswer {
  const directory = env['CARGO_HOME'] ?? join(home, '.cargo');
  const text = readFirst([join(directory, 'config.toml'), join(directory, 'config')]);
  const urls = [
    ...Object.entries(env).flatMap(([name, value]) =>
      /^CARGO_REGISTRIES_\w+_INDEX$/.test(name) && value ? [value] : [],
    ),
    ...findCargoUrls(text ?? ''),
  ].map((url) => url.replace(/^(?:sparse|registry)\+/, ''));
  return urls.length > 0
    ? { urls }
    : { reason: `no registry is named in ${join(directory, 'config.toml')}` };
}

/** `registry = "…"` in [source.…] and `index = "…"` in [registries.…]. */
function findCargoUrls(text: string): string[] {
  let section = '';
  return text.split('\n').flatMap((line) => {
    const heading = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
    if (heading !== undefined) section = heading.trim();
    const [, key, value] = /^\s*([\w-]+)\s*=\s*"([^"\\]+)"\s*(?:#.*)?$/.exec(line) ?? [];
    const isIndex =
      (section.startsWith('source.') && key === 'registry') ||
      (section.startsWith('registries.') && key === 'index');
    return isIndex && value !== undefined ? [value] : [];
  });
}

function ask(
  program: string,
  args: readonly string[],
  env: RegistryInput['env'],
): string | undefined {
  const path = findProgram(program, env);
  if (path === undefined) return undefined;
  try {
    return execFileSync(path, args, {
      cwd: OUTSIDE,
      env: { ...env },
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      maxBuffer: 4 << 20,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

/** Not from a relative place in PATH, which may be the workspace. */
function findProgram(name: string, env: RegistryInput['env']): string | undefined {
  const places = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return places
    .map((place) => join(place, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function readFirst(paths: readonly string[]): string | undefined {
  for (const path of paths)
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // The next one, then.
    }
  return undefined;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
