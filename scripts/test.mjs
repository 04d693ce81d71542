// Runs every test, says what was not run and why, and ends with the true counts on a line of their own.
import { stripVTControlCharacters } from 'node:util';
import { runElsewhere } from './place.mjs';
import { makeReady, ROOT } from './ready.mjs';

/** Counts what ran. A file that could not even be loaded is one failure; so is an error outside of any test. */
function count(vitest) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  const notRun = new Map();
  const fail = (where, errors) => {
    counts.failed += 1;
    failures.push({ where, errors });
  };
  for (const module of vitest.state.getTestModules()) {
    const file = module.relativeModuleId;
    if (module.errors().length > 0) fail(file, module.errors());
    for (const suite of module.children.allSuites())
      for (const error of suite.errors()) fail(`${file}: ${suite.fullName}`, [error]);
    for (const test of module.children.allTests()) {
      const { state, note, errors } = test.result();
      if (state === 'passed') counts.passed += 1;
      else if (state === 'skipped' || isLeftOut(test)) {
        counts.skipped += 1;
        addNotRun(notRun, note ?? reasonInName(test) ?? 'no reason was given', file, test);
      } else fail(`${file}: ${test.fullName}`, errors ?? []);
    }
  }
  for (const error of vitest.state.getUnhandledErrors()) fail('outside of any test', [error]);
  return { counts, failures, notRun };
}

/** Of a suite that is left out inside one that is left out nobody settles the tests. */
function isLeftOut(test) {
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent)
    if (parent.options.mode === 'skip') return true;
  return false;
}

/** A suite that is left out as a whole says why in its name. */
function reasonInName(test) {
  return /\(not run: ([^)]+)\)/.exec(test.fullName)?.[1];
}

/** Tests of one suite that are left out for one reason are one line. */
function addNotRun(notRun, reason, file, test) {
  const names = notRun.get(reason) ?? new Map();
  const suite = test.parent.type === 'suite' ? test.parent.fullName : test.name;
  const name = `${file}: ${suite}`;
  notRun.set(reason, names.set(name, (names.get(name) ?? 0) + 1));
}

function tellNotRun(notRun) {
  if (notRun.size === 0) return;
  console.log('Not run:');
  for (const [reason, names] of [...notRun].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const total = [...names.values()].reduce((sum, number) => sum + number, 0);
    console.log(`  ${reason} (${total})`);
    for (const [name, number] of names)
      console.log(`    ${name}${number > 1 ? ` (${number})` : ''}`);
  }
}

/** Last, so that whoever sees only the end of a long log sees what failed. */
function tellFailures(failures) {
  if (failures.length > 0) console.log('Failed:');
  for (const { where, errors } of failures) {
    console.log(`  ${where}`);
    for (const { message, diff = '' } of errors)
      for (const line of [...firstLines(message, 12), ...firstLines(differing(diff), 24)])
        console.log(`    ${line}`);
  }
}

function firstLines(text, count) {
  return String(text).split('\n').slice(0, count);
}

/** Of a comparison only what differs. */
function differing(diff) {
  return stripVTControlCharacters(diff)
    .split('\n')
    .filter((line) => /^[-+]/.test(line))
    .join('\n');
}

/** What stands behind `--project=`: kinds of tests, as vitest.config.ts names them. All, unless given. */
const PROJECT = '--project=';
const args = process.argv.slice(2);

makeReady();
const elsewhere = await runElsewhere(ROOT, args);
if (elsewhere !== undefined) process.exit(elsewhere);
const { startVitest } = await import('vitest/node');
const vitest = await startVitest(
  'test',
  args.filter((arg) => !arg.startsWith(PROJECT)),
  {
    root: ROOT,
    project: args.filter((arg) => arg.startsWith(PROJECT)).map((arg) => arg.slice(PROJECT.length)),
    watch: false,
    reporters: ['default'],
  },
);
const { counts, failures, notRun } = count(vitest);
await vitest.close();
tellNotRun(notRun);
tellFailures(failures);
const hasRun = counts.passed + counts.failed > 0;
if (!hasRun) console.log('No test was found.');
process.exitCode = counts.failed > 0 || !hasRun ? 1 : 0;
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
