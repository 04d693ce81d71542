// Makes what cannot be made anywhere else than on the machine that it is for: the helper and the steward, compiled from
// native/, and what node compiles the program to. The build does it beside the program; an installation that has none
// does it at first use, in a folder of the user's own where the program belongs to somebody else. Prints the folder.
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const WARNINGS = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-Wshadow', '-Wformat=2'];
const HARDENING = [
  '-D_FORTIFY_SOURCE=2',
  '-fstack-protector-strong',
  '-fPIE',
  '-Wl,-z,relro,-z,now',
  '-pthread',
  '-s',
];
// A static helper starts faster and needs nothing inside the sandbox; not every system has a static libc.
const LINKS = [['-static-pie'], ['-static'], ['-pie']];

export const NO_COMPILER = `assay needs a C compiler to build its helper, and found none (cc, gcc or clang).
  Debian, Ubuntu:  apt-get install gcc libc6-dev
  Fedora:          dnf install gcc glibc-static
  Alpine:          apk add gcc musl-dev`;

/** Undefined where there is none. */
export function findCompiler() {
  return ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);
}

function listSources(folder) {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.c'))
    .map((name) => join(root, folder, name));
}

function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
    child.once('error', (error) => resolve({ status: 1, said: error.message }));
    child.once('close', (status) => resolve({ status, said }));
  });
}

/** What the compiler said, when it cannot link in any of these ways. */
async function compile({ compiler, output, sources, links }) {
  let last = '';
  for (const link of links) {
    const args = [...WARNINGS, ...HARDENING, ...link, '-o', output, ...sources];
    const { status, said } = await run(compiler, args);
    if (status === 0) return undefined;
    last = said;
  }
  return last;
}

/** Compiles native/*.c for the machine that `compiler` targets. */
export async function buildHelper(compiler, output) {
  const problem = await compile({ compiler, output, sources: listSources('native'), links: LINKS });
  if (problem !== undefined)
    throw new Error(`Cannot build the helper with ${compiler}:\n${problem}`);
}

/** What runs inside of containers, whose libraries are not the host's. Where it cannot be had, containers cannot. */
async function buildSteward(compiler, output) {
  const sources = [...listSources('native/steward'), join(root, 'native/digest.c')];
  const links = LINKS.filter(([link]) => link.startsWith('-static'));
  const problem = await compile({ compiler, output, sources, links });
  if (problem !== undefined && !/cannot find -lc|crt1/.test(problem))
    throw new Error(`Cannot build the steward with ${compiler}:\n${problem}`);
}

/** What compiles the program: the main job without a policy file, with one, and with doors to the network. */
const JOBS = [
  { flags: [], command: ['true'] },
  { flags: ['--policy', 'example.yaml'], command: ['true'] },
  // For long enough that somebody serves them.
  { flags: ['--policy', 'doors.json'], command: ['sleep', '0.3'] },
];

const EXAMPLE_POLICY = `api_version: assay/v1
extends: [coding-agent]
fs:
  read: ["~/.gitconfig", /srv]
  write:
    - \${CWD}/build
  deny: ["*.pem", ~/.ssh]
  protect: [package.json]
net:
  allow: [localhost]
env:
  allow: [CI]
limits: { pids: 2000, timeout: 1h }
tests:
  - allow: fs.write \${CWD}/build/x
  - deny: fs.read ~/.ssh/id_rsa
  - deny: net.connect example.org
`;

/** Runs one job with the code of those before it, and keeps that and its own. */
const TRAINING = `
const { start, scripts } = require(process.env.BIN);
const { writeFileSync } = require('node:fs');
const { CODE: code } = process.env;
process.on('exit', () => {
  for (const [name, script] of scripts) writeFileSync(code + '/' + name, script.createCachedData());
});
start(code);`;

/** A run starts with what node made of the program in `dist` when it ran here before: compiling takes longer than running. */
export function keepCode(made) {
  const code = join(made, `code-${process.version}`);
  const folder = mkdtempSync(join(made, '.training-'));
  mkdirSync(join(folder, 'code'));
  writeFileSync(join(folder, 'example.yaml'), EXAMPLE_POLICY);
  writeFileSync(
    join(folder, 'doors.json'),
    '{"api_version":"assay/v1","net":{"allow":["example.org"]}}',
  );
  const env = { ...process.env, BIN: join(root, 'bin/assay.js'), CODE: join(folder, 'code') };
  for (const name of ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'NODE_PATH']) delete env[name];
  for (const { flags, command } of JOBS)
    spawnSync(process.execPath, ['-e', TRAINING, 'assay', 'sandbox', ...flags, '--', ...command], {
      cwd: folder,
      env,
      stdio: 'ignore',
      timeout: 30_000,
    });
  rmSync(code, { recursive: true, force: true });
  renameSync(join(folder, 'code'), code);
  rmSync(folder, { recursive: true });
}

/** Beside the program where that is this user's, who may then do without; a folder that nobody else writes where not. */
function chooseFolder() {
  const dist = join(root, 'dist');
  try {
    accessSync(dist, constants.W_OK);
    if (statSync(dist).uid === process.getuid()) return dist;
  } catch {
    // on a disk that is read-only
  }
  const { XDG_CACHE_HOME: named, HOME: home } = process.env;
  if (!named?.startsWith('/') && !home?.startsWith('/'))
    throw new Error('There is no folder of your own to build the helper in: set HOME');
  const cache = named?.startsWith('/') ? named : join(home, '.cache');
  const own = join(cache, 'assay', `built-${readFileSync(join(dist, 'build-id'), 'latin1')}`);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(own);
  if (uid !== process.getuid() || (mode & 0o022) !== 0)
    throw new Error(`Others may write ${own}, so nothing of it can be run: remove it`);
  return own;
}

/** The helper and the steward, at once, since each keeps one processor busy. */
export async function buildNative(folder, compiler = findCompiler()) {
  if (compiler === undefined) throw new Error(NO_COMPILER);
  await Promise.all([
    buildHelper(compiler, join(folder, 'assay-helper')),
    buildSteward(compiler, join(folder, 'assay-steward')),
  ]);
}

async function main() {
  const made = chooseFolder();
  process.stderr.write('assay: building its helper for this machine, which is done once\n');
  const work = mkdtempSync(join(made, '.building-'));
  try {
    await buildNative(work);
    for (const name of readdirSync(work)) renameSync(join(work, name), join(made, name));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  keepCode(made);
  process.stdout.write(made);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await main().catch(({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  });
