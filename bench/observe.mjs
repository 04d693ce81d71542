// What it costs to record a run, at each level, beside strace watching the same calls.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './measure.mjs';
import { measurePeak } from './memory.mjs';
import { makeCProject, makeManyFiles, makeNpmProject, makeTypeScriptProject } from './projects.mjs';
import { makeTable, median } from './tables.mjs';

const ASSAY = join(ROOT, 'bin/assay.js');
const TSC = realpathSync(join(ROOT, 'node_modules/.bin/tsc'));
const INSIDE = [ASSAY, 'sandbox', '--quiet', '--preset', 'coding-agent'];
const STRACE = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null'];
const WATCHED = ['-e', 'trace=%file,execve,connect,bind'];
// Each time into a new directory: to make what was removed a moment ago takes some file systems very long.
const NPM_CI =
  'd=$(mktemp -d run.XXXXXX) && cp project/* $d && cd $d && ' +
  'exec npm ci --offline --no-audit --no-fund --ignore-scripts --cache ../.cache';
const MEMORY_BAR = { mib: 150 };

const WORKLOADS = [
  {
    title: 'TypeScript compile, 300 files',
    dir: 'typescript',
    argv: [TSC, '-p', '.'],
    bars: { effects: 1.05, all: 1.07 },
    rounds: 9,
  },
  {
    title: 'make -j2, 60 C files',
    dir: 'c',
    argv: ['/bin/sh', '-c', 'make -s clean && make -s -j2'],
    bars: { effects: 1.1, all: 1.5 },
    rounds: 9,
  },
  {
    title: 'npm ci, 100 packages of 40 files, from tarballs',
    dir: 'npm',
    argv: ['/bin/sh', '-c', NPM_CI],
    bars: { effects: 1.15, all: 1.25 },
    rounds: 9,
  },
  {
    title: 'grep -r over 20,000 files of 200 bytes',
    dir: 'tiny',
    argv: ['grep', '-rc', 'file 19999', '.'],
    bars: { effects: 1.15, all: 3 },
    rounds: 15,
  },
];

function makeProjects(at) {
  makeTypeScriptProject(at('typescript'));
  makeCProject(at('c'));
  makeNpmProject(at('npm'));
  makeManyFiles(at('tiny'), 20_000, 200);
}

/** Levels without a reader show what recording takes; with a profile, all that a user waits for. */
function listVariants(profile) {
  return [
    { name: 'effects', flags: ['--observe', 'effects'] },
    { name: 'all', flags: ['--observe', 'all'] },
    {
      name: 'effects-profile',
      flags: ['--observe', 'effects', '--profile', profile],
      label: 'effects, with a profile',
    },
    { name: 'all-profile', flags: ['--profile', profile], label: 'all, with a profile' },
  ];
}

function benchWorkload(bench, { title, dir, argv, bars, rounds }, { scale, hasStrace }) {
  const cwd = join(bench.path, dir);
  const variants = listVariants(bench.scratch('profile.yaml'));
  const commands = [
    { name: 'bare', argv, cwd },
    ...variants.flatMap(({ name, flags }) => [
      { name, argv: [...INSIDE, ...flags, '--', ...argv], cwd },
      { name: `${name}-start`, argv: [...INSIDE, ...flags, '--', 'true'], cwd },
    ]),
    ...(hasStrace ? [{ name: 'strace', argv: [...STRACE, ...WATCHED, ...argv], cwd }] : []),
  ];
  const times = bench.time(commands, { rounds: Math.max(4, Math.round(rounds * scale)) });
  const rows = [
    { name: 'bare', label: 'bare' },
    ...variants.flatMap(({ name, label = `observe ${name}` }) => [
      { name, label: `${label}, start-up included`, against: 'bare' },
      {
        name,
        label,
        against: 'bare',
        less: `${name}-start`,
        bar: bars[name] === undefined ? undefined : { ratio: bars[name] },
      },
    ]),
    ...(hasStrace ? [{ name: 'strace', label: 'strace --seccomp-bpf', against: 'bare' }] : []),
  ];
  return makeTable(title, times, rows, median);
}

async function benchMemory(bench, { scale }) {
  const dir = join(bench.path, 'memory');
  mkdirSync(dir);
  const opener = join(dir, 'opener');
  execFileSync('cc', ['-O2', '-Wall', '-Werror', '-o', opener, join(ROOT, 'bench/opener.c')]);
  copyFileSync(join(ROOT, 'bench/opener.c'), join(dir, 'file'));
  const count = (whole) => Math.round(whole * scale);
  const opens = ['./opener', 'read', String(count(1_000_000)), 'file'];
  const makes = ['./opener', 'make', String(count(200_000))];
  const profile = ['--profile', bench.scratch('memory.yaml')];
  const runs = [
    { what: 'opens of one file', flags: ['--observe', 'all'], argv: opens },
    { what: 'opens of one file, with a profile', flags: profile, argv: opens },
    { what: 'files made', flags: ['--observe', 'all'], argv: makes },
    { what: 'files made, with a profile', flags: profile, argv: makes },
  ];
  const rows = [];
  for (const { what, flags, argv } of runs) {
    const peak = await measurePeak([...INSIDE, ...flags, '--', ...argv], dir);
    const label = `${Number(argv[2]).toLocaleString('en')} ${what}`;
    rows.push({ label, ...peak, bar: MEMORY_BAR, isMet: peak.mib <= MEMORY_BAR.mib });
  }
  return { title: 'Memory of assay at its peak', isMemory: true, rows };
}

/** Yields one table after the other. */
export async function* benchObservation(bench, { scale, notes }) {
  const hasStrace = spawnSync('strace', ['--version']).status === 0;
  if (!hasStrace) notes.push('strace was not measured: it is not installed');
  makeProjects((name) => join(bench.path, name));
  for (const workload of WORKLOADS) yield benchWorkload(bench, workload, { scale, hasStrace });
  yield await benchMemory(bench, { scale });
}
