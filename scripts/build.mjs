// Builds everything that runs: dist/*.cjs from src/, and dist/assay-helper from native/.
import { createHash } from 'node:crypto';
import {
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
import { writeCell } from './build-cell.mjs';
import { writeLibrary } from './build-library.mjs';
import { buildNative, keepCode } from './set-up.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const finished = join(root, 'dist');
// Built aside and put in place at the end, so that a program that is running meanwhile finds one whole or the other.
const dist = join(root, `dist.${process.pid}`);

function fail(message) {
  console.error(message);
  process.exit(1);
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

function toAscii(source) {
  return source.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** One byte a character is quicker to read, and the code that is kept of a part is found by its length. */
function writeAscii() {
  for (const file of [
    'assay.cjs',
    ...readdirSync(join(dist, 'chunks')).map((name) => `chunks/${name}`),
  ]) {
    const path = join(dist, file);
    writeFileSync(path, toAscii(readFileSync(path, 'utf8')));
  }
}

/** Tells what was built from what, so that another version does not take the helper of this one for its own. */
function writeId() {
  const hash = createHash('sha256');
  const native = ['native', 'native/steward'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => /\.[ch]$/.test(name))
      .map((name) => join(root, folder, name)),
  );
  for (const path of [...native, join(dist, 'assay.cjs')]) hash.update(readFileSync(path));
  writeFileSync(join(dist, 'build-id'), hash.digest('hex').slice(0, 16));
}

async function main() {
  mkdirSync(dist);
  try {
    await bundle();
    writeAscii();
    await writeFilters();
    await writePage();
    await writeLibrary(dist);
    await writeCell(dist);
    writeId();
    await buildNative(dist);
    putInPlace();
  } catch (error) {
    fail(error.message);
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
  keepCode(finished);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
