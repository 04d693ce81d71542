// Builds everything that runs: dist/*.cjs from src/, dist/assay-helper from native/, and bin/assay.js.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeLoader, packParts, toAscii } from './packed.mjs';
import { writeCell } from './build-cell.mjs';
import { writeLibrary } from './build-library.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const finished = join(root, 'dist');
// Built aside and put in place at the end, so that a program that is running meanwhile finds one whole or the other.
const dist = join(root, `dist.${process.pid}`);

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

function fail(message) {
  console.error(message);
  process.exit(1);
}

function findCompiler() {
  for (const name of ['cc', 'gcc', 'clang'])
    if (spawnSync(name, ['--version']).status === 0) return name;
  return fail(
    'assay needs a C compiler to build its helper, and found none (cc, gcc or clang).\n' +
      '  Debian, Ubuntu:  apt-get install gcc libc6-dev\n' +
      '  Fedora:          dnf install gcc glibc-static\n' +
      '  Alpine:          apk add gcc musl-dev\n' +
      'Then run npm ci again.',
  );
}

function listSources(folder) {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.c'))
    .map((name) => join(root, folder, name));
}

/** What the compiler said, when it cannot link in any of these ways. */
function compile({ compiler, output, sources, links }) {
  const partial = `${output}.${process.pid}`;
  let last = '';
  for (const link of links) {
    const args = [...WARNINGS, ...HARDENING, ...link, '-o', partial, ...sources];
    const result = spawnSync(compiler, args, { encoding: 'utf8' });
    if (result.status === 0) {
      renameSync(partial, output);
      return undefined;
    }
    last = result.stderr;
  }
  return last;
}

/** Compiles native/*.c for the machine that `compiler` targets. */
export function buildHelper(compiler, output) {
  const problem = compile({ compiler, output, sources: listSources('native'), links: LINKS });
  if (problem !== undefined) fail(`Cannot build the helper with ${compiler}:\n${problem}`);
}

/** What runs inside of containers, whose libraries are not the host's. Where it cannot be had, containers cannot. */
function buildSteward(compiler, output) {
  const sources = [...listSources('native/steward'), join(root, 'native/digest.c')];
  const links = LINKS.filter(([link]) => link.startsWith('-static'));
  const problem = compile({ compiler, output, sources, links });
  if (problem !== undefined && !/cannot find -lc|crt1/.test(problem))
    fail(`Cannot build the steward with ${compiler}:\n${problem}`);
}

/** Every module that `file` loads before it does anything: its static imports, and theirs. */
function listStaticImports(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, type, path] of text.matchAll(
    /^(?:import|export)( type)? [^'"]*?from '(\.[^']+)';/gms,
  ))
    if (!type) listStaticImports(join(dirname(file), path), found);
  return found;
}

async function bundle() {
  const { build } = await import('rolldown');
  // What every start needs is one file, which is quicker to load than many; the rest comes when it is asked for. What
  // a policy file needs is two, since YAML takes long to load and a policy in JSON does without; doors are one more.
  const core = listStaticImports(join(root, 'src/cli/main.ts'));
  const json = listStaticImports(join(root, 'src/policy/parse-json.ts'));
  listStaticImports(join(root, 'src/policy/combine.ts'), json);
  const doors = listStaticImports(join(root, 'src/plan/named-net.ts'));
  listStaticImports(join(root, 'src/launch/door-run.ts'), doors);
  const yaml = listStaticImports(join(root, 'src/policy/load.ts'));
  await build({
    cwd: root,
    input: { assay: 'src/cli/main.ts' },
    platform: 'node',
    external: /^node:/,
    logLevel: 'warn',
    output: {
      dir: dist,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
      codeSplitting: {
        groups: [
          { name: 'core', test: (id) => core.has(id), priority: 3 },
          {
            name: 'policy-json',
            test: (id) => json.has(id) || id.includes('rolldown/runtime'),
            priority: 2,
          },
          { name: 'doors', test: (id) => doors.has(id), priority: 1 },
          { name: 'policy-yaml', test: (id) => yaml.has(id) || id.includes('/node_modules/yaml/') },
        ],
      },
      minify: true,
    },
  });
}

/**
 * The launcher names node by its absolute path and drops the variables that steer node, so that nothing in PATH or in
 * the environment runs before assay does. They are kept under other names, for programs that are allowed to see them.
 */
function writeLauncher() {
  const kept = ['NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS'];
  const line =
    `#!/usr/bin/env -S ${kept.map((name) => `-u ${name}`).join(' ')} ` +
    `${kept.map((name) => `ASSAY_${name}=\${${name}}`).join(' ')} ${process.execPath}`;
  // The kernel cuts the line at 255 bytes.
  const shebang = line.length < 250 ? line : '#!/usr/bin/env -S -u NODE_OPTIONS -u NODE_PATH node';
  const path = join(root, 'bin', 'assay.js');
  writeFileSync(
    `${path}.new`,
    `${shebang}\n${makeLoader("__dirname.slice(0, __dirname.lastIndexOf('/')) + '/dist'")}`,
  );
  chmodSync(`${path}.new`, 0o755);
  renameSync(`${path}.new`, path);
}

/** Modules of core that need Node, and what stands in for them in a browser. */
const BROWSER_TWINS = ['digest', 'inflate', 'utf8'];

/**
 * The page of `assay evidence view`: one classic script, in ASCII so that its hash does not depend on how the page is
 * decoded, and its style.
 */
async function writePage() {
  const { build } = await import('rolldown');
  const page = join(root, 'src/artifacts/page');
  await build({
    cwd: root,
    input: join(page, 'main.ts'),
    platform: 'browser',
    logLevel: 'warn',
    plugins: [
      {
        name: 'browser-twins',
        async resolveId(source, importer) {
          const found = importer ? await this.resolve(source, importer, { skipSelf: true }) : null;
          const name = BROWSER_TWINS.find(
            (twin) => found?.id === join(root, `src/core/${twin}.ts`),
          );
          if (name) return join(page, `platform/${name}.ts`);
          if (source.startsWith('node:'))
            fail(`The page cannot use ${source}, which ${importer} imports`);
          return found;
        },
      },
    ],
    output: { file: join(dist, 'view-page.js'), format: 'iife', minify: true, comments: false },
  });
  const script = toAscii(readFileSync(join(dist, 'view-page.js'), 'utf8')).trim();
  // Either would end the element that the script stands in, or change how what follows is read.
  if (/<\/script|<!--/i.test(script)) fail('The script of the page cannot stand in a page');
  if (/(?<![.\w])(?:Buffer|process)\./.test(script))
    fail('The script of the page uses what only Node has');
  writeFileSync(join(dist, 'view-page.js'), script);
  const style = readFileSync(join(page, 'style.css'), 'utf8').replace(/\n\s*/g, ' ').trim();
  writeFileSync(join(dist, 'view-page.css'), style);
}

/** Compiles the filters of ordinary runs, by a program of its own that is then of no more use. */
async function writeFilters() {
  const { build } = await import('rolldown');
  const program = join(dist, 'filters', 'compile.cjs');
  await build({
    cwd: root,
    input: 'src/plan/seccomp/common-filters.ts',
    platform: 'node',
    logLevel: 'warn',
    output: { file: program, format: 'cjs' },
  });
  const { compileCommonFilters } = createRequire(program)(program);
  for (const arch of ['x64', 'arm64'])
    for (const { name, bytes } of compileCommonFilters(arch))
      // As text, each byte a character: a plan is put together as text.
      writeFileSync(join(dist, 'filters', name), Buffer.from(bytes).toString('latin1'));
  rmSync(program);
}

function putInPlace() {
  const old = join(root, `dist.${process.pid}.old`);
  if (existsSync(finished)) renameSync(finished, old);
  renameSync(dist, finished);
  rmSync(old, { recursive: true, force: true });
}

async function main() {
  mkdirSync(dist);
  try {
    await bundle();
    await writeFilters();
    await writePage();
    await writeLibrary(dist);
    await writeCell(dist);
    buildHelper(findCompiler(), join(dist, 'assay-helper'));
    buildSteward(findCompiler(), join(dist, 'assay-steward'));
    packParts(dist);
    putInPlace();
    writeLauncher();
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
