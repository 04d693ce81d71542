// Compiles and drives the timer, and turns its lines into figures.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Node alone takes three times as long to start with NODE_EXTRA_CA_CERTS set, which would flatter every ratio. */
export function quietEnvironment() {
  const env = { ...process.env };
  for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'NODE_PATH']) delete env[name];
  return env;
}

/** The directory of one benchmark run: programs, plans and generated projects. */
export class Bench {
  // In the home directory, as projects are; /tmp is private inside the sandbox.
  path = mkdtempSync(join(homedir(), 'assay-bench-'));
  #scratch = mkdtempSync(join(tmpdir(), 'assay-bench-'));
  #timer = join(this.#scratch, 'timer');

  constructor() {
    execFileSync('cc', [
      '-O2',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-o',
      this.#timer,
      join(ROOT, 'bench/timer.c'),
    ]);
  }

  /** The functions of bench/plans.ts. */
  loadPlans() {
    return this.load('plans');
  }

  /** The functions of a file in bench/ that is written in TypeScript. */
  async load(name) {
    return import(pathToFileURL(await this.bundle(name)).href);
  }

  /** Such a file as one that node can run. */
  async bundle(name) {
    const { build } = await import('rolldown');
    const file = join(this.#scratch, `${name}.mjs`);
    await build({
      cwd: ROOT,
      input: `bench/${name}.ts`,
      platform: 'node',
      external: /^node:/,
      logLevel: 'warn',
      output: { file, format: 'esm' },
    });
    return file;
  }

  scratch(name) {
    return join(this.#scratch, name);
  }

  /** Runs every command once a round. Returns, by name, the sorted times in milliseconds. */
  time(commands, { rounds, warmup = 2 }) {
    const times = new Map(commands.map(({ name }) => [name, []]));
    for (const { name, ms } of this.#run(commands, { rounds, warmup })) times.get(name).push(ms);
    for (const list of times.values()) list.sort((a, b) => a - b);
    return times;
  }

  /** The same for what they take: by name, the sorted milliseconds of processor time, and the highest peak of memory. */
  weigh(commands, { rounds, warmup = 1 }) {
    const costs = new Map(commands.map(({ name }) => [name, { cpuMs: [], mib: 0 }]));
    for (const { name, cpuMs, mib } of this.#run(commands, { rounds, warmup })) {
      const cost = costs.get(name);
      cost.cpuMs.push(cpuMs);
      cost.mib = Math.max(cost.mib, mib);
    }
    for (const { cpuMs } of costs.values()) cpuMs.sort((a, b) => a - b);
    return costs;
  }

  /** `code` is the exit code that is expected, 0 if none is. */
  #run(commands, { rounds, warmup }) {
    const lines = commands.flatMap(({ name, cwd, plan, argv }) => [
      `command ${name}`,
      ...(cwd ? [`cwd ${cwd}`] : []),
      ...(plan ? [`plan ${plan}`] : []),
      ...argv.map((word) => `arg ${word}`),
    ]);
    const { stdout, stderr, status } = spawnSync(this.#timer, [], {
      input: `${lines.join('\n')}\nrun ${rounds} ${warmup}\n`,
      encoding: 'utf8',
      env: quietEnvironment(),
      maxBuffer: 1 << 26,
    });
    if (status !== 0) throw new Error(`The timer failed: ${stderr}`);
    const expected = new Map(commands.map(({ name, code }) => [name, code ?? 0]));
    const wrong = new Set();
    const runs = stdout
      .trim()
      .split('\n')
      .map((line) => {
        const [name, microseconds, code, cpuMicroseconds, kib] = line.split(' ');
        if (Number(code) !== expected.get(name)) wrong.add(`${name} ended with ${code}`);
        return {
          name,
          ms: Number(microseconds) / 1000,
          cpuMs: Number(cpuMicroseconds) / 1000,
          mib: Number(kib) / 1024,
        };
      });
    if (wrong.size > 0) throw new Error([...wrong].join('; '));
    return runs;
  }

  close() {
    rmSync(this.path, { recursive: true, force: true });
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}
