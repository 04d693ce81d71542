// Writes docs/backends.md from what the conformance kit has found: npm run docs:backends [DIRECTORY]. The directory is the
// one that ASSAY_KIT_RESULTS named while the kit ran; docs/conformance, where the last results are kept, unless given.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const KEPT = join(root, 'docs/conformance');
/** One file of results each, and how it is called on the page. */
const BACKENDS = {
  local: '`local`',
  docker: '`docker`',
  'gvisor-direct': '`gvisor`, alone',
  'gvisor-engine': '`gvisor`, by an engine',
  microvm: '`microvm`',
  wasm: '`wasm`',
};
const IDS = Object.keys(BACKENDS);

const WHAT_THEY_ARE = {
  local: 'A private root in namespaces, Landlock, seccomp and the broker; the kernel of the host',
  docker: 'A container of Docker or Podman; the kernel of the host',
  'gvisor-direct': 'A kernel in a process of its own, between the code and the kernel of the host',
  'gvisor-engine': 'The same, as the runtime of Docker',
  microvm: 'A virtual machine with a kernel of its own',
  wasm: 'QuickJS and CPython on WebAssembly: no operating system at all',
};

const LIMITS = {
  wallMs: 'time by the clock',
  cpuMs: 'processor time',
  cpus: 'share of processors',
  memoryBytes: 'memory',
  pids: 'processes',
  diskBytes: 'disk',
  inodes: 'files made',
  outputBytes: 'output',
  openFiles: 'open files',
};

/** What the rows of each group show, when they pass. */
const GROUPS = {
  files: 'Files of the host are out of reach; workspaces are ro, rw or copies as asked for',
  network: 'No network unless named, and then exactly that; two sandboxes are apart',
  timeouts: 'The clock ends everything, children that hide and ignore signals included',
  limits: 'Limits bite, and which one did is told',
  streams: 'Bytes, exit codes and signals are exact',
  'file api': 'Files are handed in and out, and no link leads out',
  state: 'Files stay between the calls of a sandbox, and never between sandboxes',
  lifetime: 'Ends, aborts and a killed supervisor leave nothing',
  refusals: 'What cannot be kept is refused before anything runs',
  evidence: 'Each call has a run id, its coverage, and a bundle that verifies',
  hostile: 'Programs that mean harm come to nothing',
};

function readResults(directory) {
  const found = new Map();
  for (const id of IDS) {
    const path = join(directory, `${id}.json`);
    if (existsSync(path)) found.set(id, JSON.parse(readFileSync(path, 'utf8')));
  }
  return found;
}

function count(rows, status) {
  return rows.filter((row) => row.status === status).length;
}

function describeRows(rows) {
  const [passed, failed, notRun] = ['passed', 'failed', 'not run'].map((one) => count(rows, one));
  if (passed + failed === 0) return 'not run';
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`**${failed} failed**`);
  if (notRun > 0) parts.push(`${notRun} not run`);
  return parts.join(', ');
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function listNotRun(results) {
  return results.flatMap(([id, { rows }]) => {
    const byReason = new Map();
    for (const { status, reason, group, name } of rows)
      if (status === 'not run')
        byReason.set(reason, [...(byReason.get(reason) ?? []), `${group}: ${name}`]);
    return [...byReason].map(([reason, names]) => {
      const shown = names.length > 4 ? `${names.length} rows` : names.join('; ');
      return `- ${BACKENDS[id]}: ${reason} (${shown})`;
    });
  });
}

function describe(results) {
  const there = [...results].filter(([, { isAvailable }]) => isAvailable);
  const ids = there.map(([id]) => id);
  const absent = IDS.filter((id) => !ids.includes(id));
  const per = (read) => there.map(([, one]) => read(one));
  const head = ['', ...ids.map((id) => BACKENDS[id])];
  const [[, first] = []] = there;
  return `# Backends

What keeps a sandbox, what each guarantees, and what the conformance kit has shown of it. This page is generated from the results of the kit (\`npm run docs:backends\`); \`assay backends\` shows the same for your machine.

${table(
  ['Backend', 'What it is', 'Engine', 'Conformance'],
  IDS.map((id) => {
    const found = results.get(id);
    return [
      BACKENDS[id],
      WHAT_THEY_ARE[id],
      found?.engine ?? 'not there',
      found?.isAvailable ? describeRows(found.rows) : 'not run',
    ];
  }),
)}

Run on Linux ${first?.host.kernel ?? ''}, node ${first?.host.node ?? ''}, as uid ${first?.host.uid ?? ''}${first?.isFull ? ', with the full counts' : ''}. A backend never stands in for another: what is asked for and not guaranteed is refused before anything runs (\`policy_unenforceable\`, with each item), and an engine that is missing is \`backend_unavailable\`, with the way to get it.

## Guarantees

${table(head, [
  ['kernel', ...per(({ guarantees }) => guarantees.kernel)],
  ['files', ...per(({ guarantees }) => guarantees.files)],
  ['workspace', ...per(({ guarantees }) => guarantees.workspace.join(', ') || 'none')],
  ['network', ...per(({ guarantees }) => guarantees.network)],
  ...Object.entries(LIMITS).map(([name, what]) => [
    `limit on ${what} (\`${name}\`)`,
    ...per(({ guarantees }) => guarantees.limits[name]),
  ]),
  ...['files', 'programs', 'network', 'environment'].map((surface) => [
    `record of ${surface}`,
    ...per(({ guarantees }) => guarantees.coverage[surface]),
  ]),
])}

_Hard_: the kernel or the engine keeps it. _Soft_: somebody looks from time to time, so it can be passed for a moment. A limit that is _none_ is refused when it is asked for.

## What was shown

${table(
  head,
  Object.entries(GROUPS).map(([group, what]) => [
    what,
    ...per(({ rows }) => describeRows(rows.filter((row) => row.group === group))),
  ]),
)}

The rows are in \`test/conformance/rows\`: the same programs and the same use of the interface on every backend. Programs that look for the host are also run bare, where they have to find it.

## Not run

${[
  ...absent.map(
    (id) => `- ${BACKENDS[id]}: ${results.get(id)?.reasons.join('; ') ?? 'no results are kept'}`,
  ),
  ...listNotRun(there),
].join('\n')}
`;
}

const directory = process.argv[2] ?? KEPT;
const results = readResults(directory);
if (results.size === 0) throw new Error(`There are no results in ${directory}`);
if (directory !== KEPT) {
  mkdirSync(KEPT, { recursive: true });
  for (const [id, one] of results)
    writeFileSync(join(KEPT, `${id}.json`), await format(JSON.stringify(one), { parser: 'json' }));
}
const text = describe(readResults(KEPT));
const path = join(root, 'docs/backends.md');
writeFileSync(path, await format(text, { parser: 'markdown', printWidth: 100, singleQuote: true }));
console.log(`Wrote ${path}`);
