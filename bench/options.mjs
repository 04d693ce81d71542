// `node bench/options.mjs`: what each way to run somebody's code costs here. Writes docs/evaluation.json, from which
// scripts/evaluation-page.mjs makes docs/evaluation.md.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BACKEND_IDS, createSandbox, probeBackend } from '../dist/index.mjs';
import { ROOT } from './measure.mjs';
import { median } from './tables.mjs';

const OUTPUT = join(ROOT, 'docs/evaluation.json');
const ROUNDS = 7;
/** An emulated machine takes long; three rounds of it say as much. */
const BUDGET_MS = 30_000;

const PROGRAMS = {
  start: 'pass\n',
  compute: 'total = 0\nfor i in range(3000000):\n    total += i * i\nassert total > 0\n',
  files: `import os
os.mkdir('many')
for i in range(400):
    with open(f'many/{i}', 'w') as file:
        file.write('x' * 200)
assert sum(len(open(f'many/{name}').read()) for name in os.listdir('many')) == 80000
`,
};

/** The one that the backends run, too: what PATH names first may be something that looks for it. */
const PYTHON = '/usr/bin/python3';

const LIMITS = { wallMs: 300_000, memoryBytes: 512 * 1024 * 1024 };

/** Milliseconds of a program that this process starts. */
function time(argv, cwd) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(argv[0], argv.slice(1), { cwd, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(performance.now() - started);
      else reject(new Error(`${argv.join(' ')} exited with ${code}`));
    });
  });
}

/** A program of the host, bare or with something in front of it. */
function makeHostOption(prefix) {
  return async (program) => {
    const directory = mkdtempSync(join(tmpdir(), 'assay-options-'));
    try {
      writeFileSync(join(directory, 'main.py'), PROGRAMS[program]);
      const argv = [...prefix(directory), PYTHON, 'main.py'];
      const ms = await time(argv, directory);
      return { coldMs: ms, warmMs: ms };
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
}

function makeBackendOption(id, runtime) {
  return async (program) => {
    const started = performance.now();
    const sandbox = await createSandbox({ backend: id, limits: LIMITS });
    try {
      const path = sandbox.putCode
        ? await sandbox.putCode('main.py', Buffer.from(PROGRAMS[program]))
        : await putIntoWorkspace(sandbox, PROGRAMS[program]);
      const ready = performance.now();
      const { isOk, stderr, outcome } = await sandbox.exec([...runtime.argv, path]);
      if (!isOk)
        throw new Error(`${id}: ${JSON.stringify(outcome)} ${Buffer.from(stderr).toString()}`);
      const warmMs = performance.now() - ready;
      await sandbox[Symbol.asyncDispose]();
      return { coldMs: performance.now() - started, warmMs };
    } finally {
      await sandbox[Symbol.asyncDispose]();
    }
  };
}

async function putIntoWorkspace(sandbox, code) {
  await sandbox.fs.writeFile('.main.py', code);
  return '/workspace/.main.py';
}

async function listOptions() {
  const bwrap = spawnSync('bwrap', ['--version'], { encoding: 'utf8' });
  const walls = ['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/', '/'];
  const own = ['--dev', '/dev', '--proc', '/proc'];
  const unshare = (directory) => [...walls, ...own, '--bind', directory, directory];
  const options = [
    { id: 'bare', engine: version(PYTHON), isAvailable: true, run: makeHostOption(() => []) },
    {
      id: 'bwrap',
      engine: bwrap.stdout?.trim(),
      isAvailable: bwrap.status === 0,
      reasons: ['bubblewrap is not installed'],
      run: makeHostOption(unshare),
    },
  ];
  for (const id of BACKEND_IDS) {
    try {
      const report = await probeBackend(id);
      options.push({ ...report, run: makeBackendOption(id, report.languages.python) });
    } catch (error) {
      options.push({ id, isAvailable: false, reasons: [error.message] });
    }
  }
  return options;
}

function version(program) {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
}

/** Every option once a round, so that what else the machine does falls on all of them alike. */
async function measure(options) {
  const times = new Map(options.map(({ id }) => [id, { start: [], compute: [], files: [] }]));
  const spent = new Map(options.map(({ id }) => [id, 0]));
  for (let round = 0; round < ROUNDS; round++)
    for (const option of options) {
      const { id, run } = option;
      if (!option.isAvailable || (round >= 3 && spent.get(id) > BUDGET_MS)) continue;
      const started = performance.now();
      try {
        for (const program of Object.keys(PROGRAMS))
          times.get(id)[program].push(await run(program));
      } catch (error) {
        // One that breaks is not measured, which is said, and the others are.
        option.isAvailable = false;
        option.reasons = [`it broke while it was measured: ${error.message}`];
        times.set(id, { start: [], compute: [], files: [] });
      }
      spent.set(id, spent.get(id) + performance.now() - started);
      process.stderr.write(`round ${round + 1} of ${ROUNDS}: ${id}\n`);
    }
  return times;
}

function middle(runs, key) {
  return median(runs.map((run) => run[key]).toSorted((a, b) => a - b));
}

function summarise(times) {
  if (times.start.length === 0) return {};
  const warmMs = middle(times.start, 'warmMs');
  return {
    rounds: times.start.length,
    coldMs: round(middle(times.start, 'coldMs')),
    warmMs: round(warmMs),
    computeMs: round(middle(times.compute, 'warmMs') - warmMs),
    filesMs: round(middle(times.files, 'warmMs') - warmMs),
  };
}

function round(ms) {
  return Math.round(ms * 10) / 10;
}

const options = await listOptions();
const load = loadavg()[0];
const times = await measure(options);
const result = {
  schema: 'assay.evaluation.v1',
  command: 'node bench/options.mjs',
  host: {
    kernel: release(),
    node: process.version,
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? '',
    load: Math.round(load * 10) / 10,
    uid: process.getuid(),
  },
  options: options.map(({ run: _, languages, ...option }) => ({
    ...option,
    languages: languages && Object.keys(languages),
    ...summarise(times.get(option.id)),
  })),
};
writeFileSync(OUTPUT, `${JSON.stringify(result, null, 2)}\n`);
process.stderr.write(`Wrote ${OUTPUT}; now: node scripts/evaluation-page.mjs\n`);
