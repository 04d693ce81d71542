// What the code-execution tool adds: a call in a sandbox that waits for it, and many tasks one after the other.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { quietEnvironment, ROOT } from './measure.mjs';
import { makeTable } from './tables.mjs';

const ASSAY = join(ROOT, 'bin/assay.js');
const PROGRAMS = { python: 'pass\n', javascript: ';\n', bash: ':\n' };
const ROUNDS = 40;
const PAUSE_MS = 150;
const TASKS = 1000;
const PARALLEL = 8;

export async function* benchCodeTool(bench, { scale, isQuick, notes }) {
  const { createCodeTool, probeBackend } = await import('../dist/index.mjs');
  const report = await probeBackend('local');
  if (!report.isAvailable) {
    notes.push(`The tool was not measured: ${report.reasons.join('; ')}`);
    return;
  }
  const tool = createCodeTool({ backend: 'local', warm: 2 });
  try {
    for (const [language, code] of Object.entries(PROGRAMS))
      if (report.languages[language])
        yield await compareStarts({ bench, tool, language, code, report, scale });
  } finally {
    await tool.close();
  }
  yield await measureBatch(bench, isQuick ? TASKS / 5 : TASKS);
}

/** The same program, started by this process and run by the tool, in turns. */
async function compareStarts({ bench, tool, language, code, report, scale }) {
  const file = bench.scratch(`main.${{ python: 'py', javascript: 'cjs', bash: 'sh' }[language]}`);
  writeFileSync(file, code);
  const argv = [...report.languages[language].argv, file];
  const times = new Map([
    ['bare', []],
    ['warm', []],
  ]);
  for (let round = -2; round < Math.max(8, ROUNDS * scale); round++) {
    const bare = await time(() => runBare(argv));
    // Until the next sandbox waits.
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    const warm = await time(async () => {
      const { exit_code: exitCode } = await tool.execute({ language, code });
      if (exitCode !== 0) throw new Error(`${language} exited with ${exitCode}`);
    });
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (round < 0) continue;
    times.get('bare').push(bare);
    times.get('warm').push(warm);
  }
  for (const list of times.values()) list.sort((a, b) => a - b);
  return makeTable(`execute_code, ${language}`, times, [
    { name: 'bare', label: `${argv[0]} FILE` },
    { name: 'warm', label: 'in a warm sandbox', against: 'bare', bar: { ratio: 1.3 } },
  ]);
}

function runBare([program, ...args]) {
  return new Promise((done, fail) => {
    const env = quietEnvironment();
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.resume();
    child.once('error', fail);
    child.once('close', done);
  });
}

async function time(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Memory of assay itself, once it has found its size and at the end. */
async function measureBatch(bench, count) {
  const file = bench.scratch('tasks.ndjson');
  const tasks = Array.from({ length: count }, (_, index) => ({
    language: 'bash',
    code: `head -c 20000 /dev/zero | tr '\\0' x; echo ${index}`,
  }));
  writeFileSync(file, tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
  const args = ['exec', '--quiet', '--batch', file, '--parallel', String(PARALLEL)];
  const child = spawn(ASSAY, args, {
    env: quietEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const samples = [];
  let done = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).exit_code !== 0) throw new Error(`A task failed: ${line.slice(0, 500)}`);
    done += 1;
    if (done % (count / 20) === 0) samples.push(readMemory(child.pid));
  }
  const first = Math.max(...samples.slice(4, 10));
  const last = Math.max(...samples.slice(-6));
  const mib = Math.round(first * 1.15);
  const row = (label, value) => ({ label, mib: value, nodeMib: value, helperMib: 0 });
  return {
    title: `${count} tasks, ${PARALLEL} at a time`,
    isMemory: true,
    rows: [
      row('most, from a fifth to a half of them', first),
      { ...row('most, over the last third', last), bar: { mib }, isMet: last <= mib },
    ],
  };
}

function readMemory(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}
