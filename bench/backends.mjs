// How long it takes to have a sandbox: made and ended for one program, and ready for one; beside bubblewrap and Docker, in
// the same rounds of the same small process, and of one that holds a gigabyte.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { quietEnvironment, ROOT } from './measure.mjs';
import { makeTable } from './tables.mjs';

const HELD_MIB = 1024;
const BWRAP = ['bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'];

function findEngines(notes) {
  const script =
    `import { BACKEND_IDS, probeBackend } from ${JSON.stringify(join(ROOT, 'dist/index.mjs'))};` +
    'const all = []; for (const id of BACKEND_IDS) all.push(await probeBackend(id).catch((error) => ' +
    '({ id, isAvailable: false, reasons: [error.message] }))); console.log(JSON.stringify(all)); process.exit(0);';
  const reports = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  );
  for (const { id, isAvailable, reasons } of reports)
    if (!isAvailable) notes.push(`${id} was not measured: ${reasons.join('; ')}`);
  return reports.filter(({ isAvailable }) => isAvailable);
}

const hasProgram = (name) => spawnSync(name, ['--version']).status === 0;

/** A program that does nothing; where there are no programs, code that does nothing. */
function toWork({ id, languages }) {
  if (id !== 'wasm') return { id, argv: ['/bin/true'] };
  return { id, argv: [...languages.javascript.argv, 'empty.mjs'], code: '0;\n' };
}

/** Through the client of Docker, with the image that the backend has; which brings it when it is first used. */
function findDocker(reports, notes) {
  const report = reports.find(({ id }) => id === 'docker');
  if (!report || !hasProgram('docker')) {
    notes.push('docker run was not measured: there is no daemon, or no client');
    return undefined;
  }
  timeStarts({ rounds: 1, holdMiB: 0, backends: [toWork(report)], others: [] });
  const { stdout } = spawnSync('docker', ['image', 'ls', '-q', 'assay/runtime'], {
    encoding: 'utf8',
  });
  const argv = ['docker', 'run', '--rm', '--network=none', stdout.split('\n')[0], 'true'];
  return { name: 'docker-run', argv };
}

function run(program, args) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...args.flags, join(ROOT, 'bench', program), args.input],
    { encoding: 'utf8', env: quietEnvironment(), maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function timeStarts(input) {
  const times = new Map();
  const lines = run('backend-starts.mjs', { flags: [], input: JSON.stringify(input) });
  for (const { name, ms } of lines) times.set(name, [...(times.get(name) ?? []), ms]);
  for (const list of times.values()) list.sort((a, b) => a - b);
  return times;
}

export function* benchBackends({ scale, notes }) {
  const reports = findEngines(notes);
  const docker = findDocker(reports, notes);
  const hasBwrap = hasProgram('bwrap');
  if (!hasBwrap) notes.push('bwrap was not measured: it is not installed');
  const others = [
    { name: 'true', argv: ['/bin/true'] },
    ...(hasBwrap ? [{ name: 'bwrap', argv: BWRAP }] : []),
  ];
  const fast = reports.filter(({ id }) => id === 'local');
  const slow = reports.filter(({ id }) => id !== 'local');
  const rounds = Math.max(10, Math.round(80 * scale));
  const times = timeStarts({
    rounds,
    holdMiB: 0,
    backends: fast.map(toWork),
    others,
  });
  // Apart from programs that are started as usual: what a fork leaves behind slows down what comes after it.
  const alone = {
    rounds: Math.ceil(rounds / 2),
    backends: fast.map(toWork),
    others: [],
  };
  const pair = others.filter(({ name }) => name === 'true' || name === 'bwrap');
  const few = {
    ...alone,
    holdMiB: HELD_MIB,
    backends: [],
    others: pair,
    rounds: Math.ceil(rounds / 8),
  };
  for (const { suffix, input } of [
    { suffix: '-alone', input: { ...alone, holdMiB: 0 } },
    { suffix: '-held', input: { ...alone, holdMiB: HELD_MIB } },
    { suffix: '-held', input: few },
  ])
    for (const [name, list] of timeStarts(input)) times.set(`${name}${suffix}`, list);
  if (slow.length > 0) {
    const slowly = timeStarts({
      rounds: Math.max(3, Math.round(6 * scale)),
      holdMiB: 0,
      backends: slow.map(toWork),
      others: docker ? [docker] : [],
    });
    for (const [name, list] of slowly) times.set(name, list);
  }
  yield makeTable('A sandbox made, used for true, and ended, from node', times, [
    { name: 'true', label: 'spawn of true' },
    ...(hasBwrap
      ? [{ name: 'bwrap', label: 'spawn of bwrap --unshare-all --ro-bind / / true' }]
      : []),
    ...(docker ? [{ name: 'docker-run', label: 'spawn of docker run --network=none true' }] : []),
    ...reports.map(({ id }) => ({
      name: `${id}-cold`,
      label: `createSandbox({ backend: '${id}' })`,
      ...(id === 'local' && hasBwrap && { against: 'bwrap', bar: { ratio: 1.2 } }),
      ...(id !== 'local' && docker && { against: 'docker-run' }),
    })),
  ]);
  yield makeTable(`The same from a process that holds ${HELD_MIB} MiB`, times, [
    { name: 'true-held', label: 'spawn of true', against: 'true' },
    ...(hasBwrap ? [{ name: 'bwrap-held', label: 'spawn of bwrap', against: 'bwrap' }] : []),
    ...fast.map(() => ({ name: 'local-cold-alone', label: 'local, from a small process' })),
    ...fast.map(() => ({
      name: 'local-cold-held',
      label: 'local',
      against: 'local-cold-alone',
      bar: { ratio: 1.25 },
    })),
  ]);
  yield makeTable('A program in a sandbox that is there', times, [
    { name: 'true', label: 'spawn of true' },
    ...reports.map(({ id }) => ({
      name: `${id}-warm`,
      label: `${id}: exec of true`,
      ...(id === 'local' && { against: 'true' }),
    })),
  ]);
  if (fast.length === 0) return;
  const [tasks] = run('backend-tasks.mjs', {
    flags: ['--expose-gc'],
    input: String(Math.round(1000 * scale)),
  });
  const { total, settledMiB, endMiB, perSecond } = tasks;
  notes.push(
    `${total} sandboxes at 8 a time: ${perSecond.toFixed(0)} a second, ${settledMiB} MiB after a fifth of them, ${endMiB} MiB at the end`,
  );
}
