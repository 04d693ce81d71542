// Makes docs/evaluation.md out of docs/evaluation.json, which bench/options.mjs writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const TITLES = {
  bare: 'A bare process',
  bwrap: 'bubblewrap',
  local: '`local`',
  docker: '`docker`',
  gvisor: '`gvisor`',
  microvm: '`microvm`',
  wasm: '`wasm`',
};

/** What stands between the code and the machine, and what an escape would take. */
const STRENGTH = {
  bare: 'None: it is you.',
  bwrap:
    'Namespaces over the host kernel. What it may see and reach is whatever its command line says; no limits, no filter of system calls unless one is brought along, no record.',
  local:
    'Namespaces, Landlock, seccomp and cgroups over the host kernel, and a broker that performs what it records. An escape takes a flaw in the system calls that are left.',
  docker:
    'The same kind of walls, kept by a daemon that runs as root: read-only root, no capabilities, no new privileges, seccomp. An escape takes a flaw in the host kernel or in the engine.',
  gvisor:
    'A kernel in user space answers the system calls; few reach the host, and those through a filter. An escape takes a flaw in that kernel and one in the host.',
  microvm:
    'A machine with a kernel of its own behind virtio devices. An escape takes a flaw in the emulator or the hypervisor, and then one in the host, around the emulator.',
  wasm: 'No operating system at all: an interpreter in WebAssembly in a process of its own, with the files and functions it is given. An escape takes a flaw in the engine of WebAssembly, and then one in the walls around that process.',
};

/** Also of those that are not here. */
const KERNELS = { gvisor: 'userspace', microvm: 'separate', wasm: 'language' };
const UNKNOWN = 'not here';

const BREADTH = {
  bare: 'whatever is installed',
  bwrap: 'whatever is installed',
  local: 'whatever is installed on the host',
  docker: 'whatever the image has',
  gvisor: 'whatever the image has',
  microvm: 'whatever the guest has',
  wasm: 'two interpreters; no programs, no packages with machine code',
};

const FILES = {
  'allow-list': 'by path: the host with everything closed but what is named',
  'separate-root': 'a tree of its own, and one directory of the host',
  'given-map': 'only files that are handed over',
};

const NETWORK = {
  names: 'by host name, address and port',
  none: 'none at all',
};

function table(rows) {
  const [head, ...body] = rows;
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}

function ms(value) {
  if (value === undefined) return '';
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function times(value, bare) {
  if (value === undefined || bare === undefined) return '';
  return `${(value / bare).toFixed(value / bare >= 10 ? 0 : 2)}×`;
}

function describeFiles({ id, isAvailable, guarantees }) {
  if (id === 'bare') return 'all that you can read and write';
  if (id === 'bwrap') return 'by mount: what is bound, read-only or not';
  return isAvailable ? FILES[guarantees.files] : UNKNOWN;
}

function describeNetwork({ id, isAvailable, guarantees }) {
  if (id === 'bare') return 'all of it';
  if (id === 'bwrap') return 'all or nothing';
  return isAvailable ? NETWORK[guarantees.network] : UNKNOWN;
}

function countLimits({ id, isAvailable, guarantees }) {
  if (id === 'bare' || id === 'bwrap') return 'none';
  if (!isAvailable) return UNKNOWN;
  const all = Object.values(guarantees.limits);
  const of = (strength) => all.filter((value) => value === strength).length;
  return `${of('hard')} hard, ${of('soft')} soft of ${all.length}`;
}

function renderFigures(options) {
  const bare = options.find(({ id }) => id === 'bare');
  return table([
    ['Option', 'Cold start, ms', 'Warm start, ms', 'Computing', 'Small files', 'Rounds'],
    ...options
      .filter(({ coldMs }) => coldMs !== undefined)
      .map((option) => [
        TITLES[option.id],
        ms(option.coldMs),
        ms(option.warmMs),
        times(option.computeMs, bare?.computeMs),
        times(option.filesMs, bare?.filesMs),
        String(option.rounds),
      ]),
  ]);
}

function renderMissing(options) {
  const missing = options.filter(({ coldMs }) => coldMs === undefined);
  if (missing.length === 0) return '';
  const lines = missing.map(({ id, reasons }) => `- ${TITLES[id]}: ${(reasons ?? []).join('; ')}`);
  return `\nNot measured on this machine:\n\n${lines.join('\n')}\n`;
}

/** The page, from what was measured. */
export function renderEvaluation({ command, host, options }) {
  return `# Ways to run somebody else's code

Seven ways, by what matters when code comes from a model: how strong the isolation is, what a start and the work cost, which languages there are, and how finely files and network can be given. The last five are the backends of assay (\`assay backends\` shows what each guarantees on your machine); the first two are what they are measured against.

This page is made by \`node scripts/evaluation-page.mjs\` from [figures](evaluation.json) that \`${command}\` measured on Linux ${host.kernel}, node ${host.node}, ${host.cores} × ${host.cpu}, uid ${host.uid}, with a load of ${host.load}. Run both to have it for your machine.

## Isolation

${table([
  ['Option', 'Kernel', 'Strength'],
  ...options.map(({ id }) => [TITLES[id], KERNELS[id] ?? 'shared', STRENGTH[id]]),
])}

## Start-up and overhead

A cold start is everything from nothing to the end of a Python program that does nothing, until nothing is left of it; a warm start is the same in a sandbox that was made ahead. Computing and small files are the time of a loop and of 400 files written and read, without the start, against a bare process. Every option ran once a round; medians.

${renderFigures(options)}
${renderMissing(options)}
## Languages

${table([
  ['Option', 'Runs here', 'Breadth'],
  ...options.map(({ id, languages }) => [
    TITLES[id],
    languages ? languages.join(', ') : '',
    BREADTH[id],
  ]),
])}

TypeScript is turned into JavaScript before it runs, wherever there is JavaScript.

## Files, network and limits

${table([
  ['Option', 'Files', 'Network', 'Limits'],
  ...options.map((option) => [
    TITLES[option.id],
    describeFiles(option),
    describeNetwork(option),
    countLimits(option),
  ]),
])}

## What follows

- \`local\` is the default: it starts fastest, gives files and network most finely, and alone has a full record of what happened.
- For code that nobody has looked at, \`gvisor\` or \`microvm\` put another kernel in between: \`--isolation userspace\` or \`--isolation separate\` refuse anything less.
- \`wasm\` is for small computations that need neither programs nor packages nor a network, where it needs no engine, no privileges and no namespaces.
- \`docker\` is for code that needs an image.
- There is no silent fallback: what was asked for and is not there is refused.
`;
}

export async function formatPage(text) {
  const { format, resolveConfig } = await import('prettier');
  const file = join(root, 'docs/evaluation.md');
  return await format(text, { ...(await resolveConfig(file)), parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = JSON.parse(readFileSync(join(root, 'docs/evaluation.json'), 'utf8'));
  writeFileSync(join(root, 'docs/evaluation.md'), await formatPage(renderEvaluation(figures)));
}
