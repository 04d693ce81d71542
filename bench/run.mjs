// `npm run bench`: what the boundary costs, each figure beside the one it is compared with, from the same rounds.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { Bench, ROOT } from './measure.mjs';
import { benchBackends } from './backends.mjs';
import { benchCodeTool } from './code-tool.mjs';
import { benchEvidence } from './evidence.mjs';
import { benchEgress } from './egress.mjs';
import { benchObservation } from './observe.mjs';
import {
  makeArchive,
  makeCProject,
  makeGitRepository,
  makeManyFiles,
  makeTypeScriptProject,
} from './projects.mjs';
import { installSandboxRuntime } from './srt.mjs';
import { makeTable, printTable } from './tables.mjs';

const ASSAY = join(ROOT, 'bin/assay.js');
const HELPER = join(ROOT, 'dist/assay-helper');
const POLICY = join(ROOT, 'examples/coding-agent.yaml');
const TSC = join(ROOT, 'node_modules/.bin/tsc');

const isJson = process.argv.includes('--json');
const isQuick = process.argv.includes('--quick');
const only = process.argv
  .find((word) => word.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const scale = isQuick ? 0.25 : 1;

function report(bench, title, commands, rounds, rows) {
  const times = bench.time(commands, { rounds: Math.max(4, Math.round(rounds * scale)) });
  return makeTable(title, times, rows);
}

function benchHelper(bench, plans) {
  const write = (name, bytes) => {
    const path = bench.scratch(name);
    writeFileSync(path, bytes);
    return path;
  };
  const tmpdir = bench.scratch('tmp');
  mkdirSync(tmpdir, { recursive: true, mode: 0o700 });
  const argv = ['/bin/true'];
  const base = { argv, cwd: bench.path, tmpdir };
  const helper = (name, bytes) => ({ name, argv: [HELPER], plan: write(name, bytes) });
  const commands = [
    { name: 'true', argv },
    helper('helper-50-rules', plans.encodeRulesPlan(50, argv)),
    helper('helper-namespaces', plans.encodeNamespacesPlan(argv)),
    helper('helper-default', plans.encodePresetPlan(base)),
    helper('helper-coding-agent', plans.encodePresetPlan({ ...base, preset: 'coding-agent' })),
    helper('helper-default-no-broker', plans.encodePresetPlan({ ...base, without: ['broker'] })),
  ];
  const hasBwrap = spawnSync('bwrap', ['--version']).status === 0;
  const plain = ['bwrap', '--unshare-all', '--ro-bind', '/', '/'];
  if (hasBwrap)
    commands.push(
      { name: 'bwrap-plain', argv: [...plain, 'true'] },
      {
        name: 'bwrap-full',
        argv: [...plain, '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', 'true'],
      },
    );
  const bwrapRows = [
    { name: 'bwrap-plain', label: 'bwrap --unshare-all --ro-bind / /', against: 'true' },
    { name: 'bwrap-full', label: 'bwrap … --dev --proc --tmpfs /tmp', against: 'true' },
    {
      name: 'helper-namespaces',
      label: 'helper, every namespace, as bwrap …',
      against: 'bwrap-full',
      bar: { ratio: 1 },
    },
    {
      name: 'helper-namespaces',
      label: 'helper, every namespace',
      against: 'bwrap-plain',
      bar: { ratio: 1 },
    },
    {
      name: 'helper-default',
      label: 'helper, the whole default boundary',
      against: 'bwrap-full',
      bar: { ratio: 1 },
    },
    {
      name: 'helper-default-no-broker',
      label: 'helper, default without broker',
      against: 'bwrap-full',
    },
    { name: 'helper-coding-agent', label: 'helper, preset coding-agent', against: 'bwrap-full' },
  ];
  return report(bench, 'The helper alone, running true', commands, 200, [
    { name: 'true' },
    {
      name: 'helper-50-rules',
      label: 'helper, seccomp + 50 Landlock rules',
      against: 'true',
      bar: { plusMs: 1.5 },
    },
    ...(hasBwrap ? bwrapRows : []),
  ]);
}

/** The example without its limit on memory: where that takes a cgroup, joining one takes as long as all else together. */
function writePlainPolicy(path) {
  const lines = readFileSync(POLICY, 'utf8').split('\n');
  writeFileSync(path, lines.filter((line) => !line.startsWith('  memory:')).join('\n'));
  return path;
}

function writeNetPolicy(path, allow) {
  writeFileSync(path, JSON.stringify({ api_version: 'assay/v1', net: { allow } }));
  return path;
}

function benchStart(bench, notes) {
  const node = process.execPath;
  const plain = writePlainPolicy(bench.scratch('policy.yaml'));
  const closed = writeNetPolicy(bench.scratch('closed.json'), []);
  const named = writeNetPolicy(bench.scratch('named.json'), ['example.org']);
  const commands = [
    { name: 'node', argv: [node, '-e', '0'] },
    { name: 'assay', argv: [ASSAY, 'sandbox', '--', 'true'], cwd: bench.path },
    {
      name: 'assay-policy',
      argv: [ASSAY, 'sandbox', '--policy', plain, '--', 'true'],
      cwd: bench.path,
    },
    {
      name: 'assay-memory',
      argv: [ASSAY, 'sandbox', '--policy', POLICY, '--', 'true'],
      cwd: bench.path,
    },
    {
      name: 'assay-json',
      argv: [ASSAY, 'sandbox', '--policy', closed, '--', 'true'],
      cwd: bench.path,
    },
    {
      name: 'assay-doors',
      argv: [ASSAY, 'sandbox', '--policy', named, '--', 'true'],
      cwd: bench.path,
    },
  ];
  const rows = [
    { name: 'node', label: 'node -e 0' },
    { name: 'assay', label: 'assay sandbox -- true', against: 'node', bar: { ratio: 2 } },
    {
      name: 'assay-policy',
      label: 'assay sandbox --policy FILE -- true',
      against: 'node',
      bar: { ratio: 2.4 },
    },
    { name: 'assay-memory', label: '… and a limit on memory', against: 'node' },
    { name: 'assay-json', label: 'assay sandbox --policy FILE.json -- true', against: 'node' },
    {
      name: 'assay-doors',
      label: '… with net.allow: example.org',
      against: 'assay-json',
      bar: { plusMs: 3 },
    },
  ];
  const srt = installSandboxRuntime(bench.scratch('srt'));
  if ('problem' in srt) notes.push(`sandbox-runtime was not measured: ${srt.problem}`);
  else {
    commands.push({ name: 'srt', argv: srt.argv, cwd: srt.cwd });
    rows.push(
      { name: 'srt', label: `sandbox-runtime ${srt.version}: srt true`, against: 'node' },
      { name: 'assay', label: 'assay sandbox -- true', against: 'srt', bar: { ratio: 1 } },
    );
  }
  return report(bench, 'Start-up, as installed', commands, 100, rows);
}

/** The same command bare and inside, and what is left of the difference without the start-up of assay itself. */
function benchWorkload(bench, { title, argv, cwd, presets, rounds, bar }) {
  const flags = { default: [], 'coding-agent': ['--preset', 'coding-agent'] };
  const commands = [
    { name: 'bare', argv, cwd },
    ...presets.flatMap((preset) => [
      { name: preset, argv: [ASSAY, 'sandbox', '--quiet', ...flags[preset], '--', ...argv], cwd },
      {
        name: `${preset}-start`,
        argv: [ASSAY, 'sandbox', '--quiet', ...flags[preset], '--', 'true'],
        cwd,
      },
    ]),
  ];
  return report(bench, title, commands, rounds, [
    { name: 'bare', label: argv.map((word) => word.replace(/^.*\/\.bin\//, '')).join(' ') },
    ...presets.flatMap((preset) => [
      { name: preset, label: `inside, ${preset}, start-up included`, against: 'bare' },
      { name: preset, label: `inside, ${preset}`, against: 'bare', less: `${preset}-start`, bar },
    ]),
  ]);
}

function benchWorkloads(bench) {
  const at = (name) => join(bench.path, name);
  makeTypeScriptProject(at('typescript'));
  makeManyFiles(at('files'), 20_000, 4000);
  makeManyFiles(at('tiny'), 20_000, 200);
  makeGitRepository(at('git'));
  makeCProject(at('c'));
  makeArchive(at('packages'));
  const both = ['default', 'coding-agent'];
  const shell = (script) => ['/bin/sh', '-c', script];
  return [
    {
      title: 'TypeScript compile, 300 files',
      argv: [TSC, '-p', '.'],
      cwd: at('typescript'),
      presets: both,
      rounds: 12,
      bar: { ratio: 1.05 },
    },
    {
      title: 'grep -r over 20,000 files of 4 KB',
      argv: ['grep', '-rc', 'file 19999', '.'],
      cwd: at('files'),
      presets: both,
      rounds: 12,
      bar: { ratio: 1.15 },
    },
    {
      title: 'grep -r over 20,000 files of 200 bytes',
      argv: ['grep', '-rc', 'file 19999', '.'],
      cwd: at('tiny'),
      presets: both,
      rounds: 12,
    },
    {
      title: 'git status, 2,000 files',
      argv: ['git', 'status', '--porcelain'],
      cwd: at('git'),
      presets: both,
      rounds: 12,
    },
    {
      title: 'make -j2, 60 C files',
      argv: shell('make -s clean && make -s -j2'),
      cwd: at('c'),
      presets: ['coding-agent'],
      rounds: 6,
    },
    {
      title: 'Unpack and remove 3,000 files',
      argv: shell('tar -xf packages.tar && rm -rf tree'),
      cwd: at('packages'),
      presets: ['coding-agent'],
      rounds: 6,
    },
  ].map((workload) => benchWorkload(bench, workload));
}

async function main() {
  const bench = new Bench();
  const notes = [];
  try {
    const wants = (name) => !only || only.includes(name);
    const host = {
      kernel: release(),
      node: process.version,
      cores: cpus().length,
      load: loadavg()[0],
      uid: process.getuid(),
    };
    if (!isJson)
      console.log(
        `Linux ${host.kernel}, node ${host.node}, ${host.cores} cores, load ${host.load.toFixed(1)}, uid ${host.uid}; interleaved; lower quartiles, of recording medians`,
      );
    const tables = [];
    const add = (table) => {
      tables.push(table);
      if (!isJson) printTable(table);
    };
    if (wants('helper')) add(benchHelper(bench, await bench.loadPlans()));
    if (wants('start')) add(benchStart(bench, notes));
    if (wants('work')) for (const table of benchWorkloads(bench)) add(table);
    if (wants('observe'))
      for await (const table of benchObservation(bench, { scale, notes })) add(table);
    if (wants('evidence'))
      for await (const table of benchEvidence(bench, { isQuick, notes })) add(table);
    if (wants('tool'))
      for await (const table of benchCodeTool(bench, { scale, isQuick, notes })) add(table);
    if (wants('egress')) for await (const table of benchEgress(bench, { scale, notes })) add(table);
    if (wants('backends')) for (const table of benchBackends({ scale, notes })) add(table);
    if (isJson) console.log(JSON.stringify({ host, tables, notes }, null, 2));
    else for (const note of notes) console.log(`\nNote: ${note}`);
  } finally {
    bench.close();
  }
}

await main();
