import { askFunction, run, send } from './host.ts';
import { files, promises } from './files.ts';
import { format, inspect } from './inspect.ts';
import * as plainPath from './path.ts';
import { programProcess } from './process.ts';
import { timerFunctions } from './timers.ts';

const { makeResolve, makeRelative, ...pathFunctions } = plainPath;
const resolve = makeResolve(() => run.cwd);
const path = { ...pathFunctions, resolve, relative: makeRelative(resolve) };

class AssertionError extends Error {
  override name = 'AssertionError';
  readonly code = 'ERR_ASSERTION';
}

function check(isTrue: unknown, message: unknown, fallback: string): void {
  if (isTrue) return;
  if (message instanceof Error) throw message;
  throw new AssertionError(typeof message === 'string' ? message : fallback);
}

function isSame(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || inspect(one) === inspect(other);
}

const assert = Object.assign(
  (value: unknown, message?: unknown): void =>
    check(value, message, 'The expression evaluated to a falsy value'),
  {
    ok: (value: unknown, message?: unknown): void =>
      check(value, message, 'The expression evaluated to a falsy value'),
    equal: (one: unknown, other: unknown, message?: unknown): void =>
      check(Object.is(one, other), message, `${inspect(one)} is not ${inspect(other)}`),
    strictEqual: (one: unknown, other: unknown, message?: unknown): void =>
      check(Object.is(one, other), message, `${inspect(one)} is not ${inspect(other)}`),
    deepEqual: (one: unknown, other: unknown, message?: unknown): void =>
      check(isSame(one, other), message, `${inspect(one)} is not ${inspect(other)}`),
    deepStrictEqual: (one: unknown, other: unknown, message?: unknown): void =>
      check(isSame(one, other), message, `${inspect(one)} is not ${inspect(other)}`),
    throws: (act: () => unknown, message?: unknown): void => {
      try {
        act();
      } catch {
        return;
      }
      check(false, typeof message === 'string' ? message : undefined, 'Nothing was thrown');
    },
    fail: (message?: unknown): void => check(false, message, 'Failed'),
    AssertionError,
  },
);

const library: Readonly<Record<string, object>> = {
  fs: { ...files, promises },
  'fs/promises': promises,
  path,
  'path/posix': path,
  process: programProcess,
  util: { inspect, format },
  assert: Object.assign(assert, { strict: assert }),
  'assert/strict': assert,
  os: { EOL: '\n', platform: () => 'wasi', tmpdir: () => '/tmp', homedir: () => '/workspace' },
  timers: timerFunctions,
};

/** What may not be imported is not there: nothing that code does to `includes` or `get` later brings it back. */
const builtIn = new Map(
  Object.entries(library).filter(([name]) => !run.modules || run.modules.includes(name)),
);

export function getBuiltIn(name: string): object {
  const found = builtIn.get(name.replace(/^node:/, ''));
  if (!found) throw notFound(name);
  return found;
}

function notFound(name: string): Error {
  return Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
}

interface CommonModule {
  exports: unknown;
  readonly filename: string;
}

type Wrapper = (...args: unknown[]) => unknown;
const loaded = new Map<string, CommonModule>();

function findFile(base: string): string {
  for (const ending of ['', '.js', '.cjs', '.json', '/index.js']) {
    const name = `${base}${ending}`;
    if (files.existsSync(name) && files.statSync(name).isFile()) return name;
  }
  throw notFound(base);
}

export function makeRequire(directory: string): (name: string) => unknown {
  return (name) => {
    if (!/^\.{0,2}\//.test(name)) return getBuiltIn(name);
    const file = findFile(resolve(directory, name));
    const known = loaded.get(file);
    if (known) return known.exports;
    if (file.endsWith('.json')) return JSON.parse(files.readFileSync(file, 'utf8') as string);
    return runModule(askFunction('load', [file]), file).exports;
  };
}

/** Runs code that was wrapped as a function, as CommonJS does. */
export function runModule(program: Wrapper, filename: string): CommonModule {
  const module: CommonModule = { exports: {}, filename };
  loaded.set(filename, module);
  const directory = path.dirname(filename);
  program.call(module.exports, module.exports, makeRequire(directory), module, filename, directory);
  return module;
}

/** Tells outside which names each module exports, and hands them to the code that is made of that. */
export function announceModules(): void {
  const names = Array.from(builtIn, ([name, module]) => [name, Object.keys(module)]);
  send('exports', JSON.stringify(Object.fromEntries(names)));
}
