// Runs every test, says what was not run and why, and ends with the true counts on a line of their own.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const BUILT = ['dist/assay.cjs', 'dist/assay-helper', 'bin/assay.js'];
const SOURCES = ['src', 'native', 'scripts/build.mjs'];

function newestMs(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

/** The tests start what is built, so it must be there and be what the sources say. */
function buildIfNeeded() {
  const built = BUILT.map((name) => join(root, name));
  const sourcesMs = Math.max(...SOURCES.map((name) => newestMs(join(root, name))));
  if (built.every((path) => existsSync(path) && statSync(path).mtimeMs >= sourcesMs)) return;
  console.log('Building first: dist/ is missing or older than its sources.');
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** Counts what ran. A file that could not even be loaded is one failure; so is an error outside of any test. */
function count(vitest) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const notRun = new Map();
  for (const module of vitest.state.getTestModules()) {
    if (module.errors().length > 0) counts.failed += 1;
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state, note } = test.result();
      if (state === 'passed') counts.passed += 1;
      else if (state === 'skipped') {
        counts.skipped += 1;
        const reason = note ?? 'no reason was given';
        notRun.set(reason, [
          ...(notRun.get(reason) ?? []),
          `${module.relativeModuleId}: ${test.fullName}`,
        ]);
      } else counts.failed += 1;
    }
  }
  counts.failed += vitest.state.getUnhandledErrors().length;
  return { counts, notRun };
}

function tellNotRun(notRun) {
  if (notRun.size === 0) return;
  console.log('Not run:');
  for (const [reason, tests] of [...notRun].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`  ${reason} (${tests.length})`);
    for (const name of tests) console.log(`    ${name}`);
  }
}

buildIfNeeded();
const vitest = await startVitest('test', process.argv.slice(2), {
  root,
  watch: false,
  reporters: ['default'],
});
const { counts, notRun } = count(vitest);
await vitest.close();
tellNotRun(notRun);
const hasRun = counts.passed + counts.failed > 0;
if (!hasRun) console.log('No test was found.');
process.exitCode = counts.failed > 0 || !hasRun ? 1 : 0;
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
