// Installs and builds what is missing, with nothing but Node, npm and a C compiler, so that a fresh clone needs one
// command. Does nothing, and needs no network, where everything is there.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCompiler, keepCode, NO_COMPILER } from './set-up.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const BUILT = [
  'dist/assay.cjs',
  'dist/view-page.js',
  'dist/assay-helper',
  'dist/index.mjs',
  'dist/wasm-cell.cjs',
  'dist/wasm-guest.js',
];
const SOURCES = [
  'src',
  'native',
  'scripts/build.mjs',
  'scripts/build-cell.mjs',
  'scripts/build-library.mjs',
];

function fail(message) {
  console.error(message);
  process.exit(1);
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
}

/** What is optional may be for other machines. */
function isInstalled() {
  const there = readPackages(join(ROOT, 'node_modules/.package-lock.json'));
  return Object.entries(readPackages(join(ROOT, 'package-lock.json'))).every(
    ([path, { version, optional, devOptional }]) =>
      path === '' || optional || devOptional || there[path]?.version === version,
  );
}

function install() {
  console.log('Installing the packages that it is built and tested with.');
  const { npm_execpath: npm } = process.env;
  const [program, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  // Building is the next step, and what it has to say is not to be lost in npm's own words.
  const { status, error } = spawnSync(
    program,
    [...first, 'ci', '--ignore-scripts', '--loglevel=error'],
    {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (status !== 0)
    fail(`Cannot install the packages: ${error?.message ?? 'npm ci failed, for the reason above'}`);
}

function newestMs(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

function isBuilt() {
  const sourcesMs = Math.max(...SOURCES.map((name) => newestMs(join(ROOT, name))));
  return BUILT.map((name) => join(ROOT, name)).every(
    (path) => existsSync(path) && statSync(path).mtimeMs >= sourcesMs,
  );
}

export function makeReady() {
  const isWhole = isBuilt();
  if (!isWhole && findCompiler() === undefined)
    fail(`${NO_COMPILER}\nThen run the same command again.`);
  if (!isInstalled()) install();
  if (!isWhole) {
    console.log('Building assay.');
    const build = join(ROOT, 'scripts/build.mjs');
    const { status } = spawnSync(process.execPath, [build], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) process.exit(1);
  } else if (!existsSync(join(ROOT, 'dist', `code-${process.version}`))) {
    keepCode(join(ROOT, 'dist'));
  }
}

/** Runs a program in this one's place, and returns its exit code. Ctrl-C is for that program; what it ends by ends this. */
export function runThrough(program, args, options) {
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => undefined);
  const child = spawn(program, args, { ...options, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
