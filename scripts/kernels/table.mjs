// Reads what guests have said and makes the table of docs/hosts.md: table.mjs [--write] DIRECTORY, where ARCH-LINE.log are.
// Ends with 1 where something is open that is not said, or does not work that should.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, '../../docs/hosts.md');
const BEGIN = '<!-- kernels: made by .ci/long -->';
const END = '<!-- /kernels -->';

const TITLES = {
  user: 'as it is',
  root: 'as it is',
  clone: '`kernel.unprivileged_userns_clone=0`',
  ceiling: '`user.max_user_namespaces=0`',
  ceiling_root: '`user.max_user_namespaces=0`',
  ceiling_net: '`user.max_net_namespaces=0`',
  ceiling_pid: '`user.max_pid_namespaces=0`',
  ceiling_mnt: '`user.max_mnt_namespaces=0`',
  yama: '`kernel.yama.ptrace_scope=2`',
  apparmor_none: 'AppArmor: no user namespaces',
  apparmor_powerless: 'AppArmor: user namespaces without rights',
  apparmor_helper: 'AppArmor, with the profile for the helper',
  cgroup: 'a delegated cgroup',
};
const KINDS = new Set(['user', 'mount', 'pid', 'ipc', 'net', 'nft']);
/** Programs that fail, and say so before, where one of these layers is not there. */
const NEEDS = { loopback: new Set(['net']), exec: new Set([...KINDS, 'landlock', 'broker']) };

function readRows(file) {
  const [, arch, line] = /^(\w+)-(.+)\.log$/.exec(file);
  const rows = [];
  const problems = [];
  let setting = '';
  const text = readFileSync(join(directory, file), 'utf8');
  for (const said of text.split(/\r?\n/)) {
    const [word, ...rest] = said.replace(/^.*?(?=SETTING |WHO )/, '').split(' ');
    if (word === 'SETTING') setting = rest[0];
    if (word === 'WHO') rows.push({ arch, line, setting, who: rest[0], programs: {}, lost: [] });
    const row = rows.at(-1);
    const [what, name = '', how = '', ...more] = rest;
    if (word !== 'RESULT' || row === undefined) continue;
    if (/^\d+$/.test(what)) row.programs[name] = how;
    else if (what === 'run') row.run = name;
    else if (what === 'fail-closed') row.isClosed = name === '2';
    else if (what === 'doctor') [row.doctor, row.agrees] = [name, how === 'agrees'];
    else if (what === 'layer') row.lost.push({ name, how, why: more.join(' ') });
    else if (what === 'said' && name !== 'before') problems.push(`${file} ${setting}: not said`);
    else if (what === 'limited' && name !== '137') problems.push(`${file} ${setting}: no limit`);
    else if (what === 'left' && `${name} ${how}` !== '0 0')
      problems.push(`${file} ${setting}: left`);
    else if (what === 'right' && how !== 'refused') problems.push(`${file} ${setting}: ${name}`);
    else if (what === 'parser') problems.push(`${file} ${setting}: the profile is not accepted`);
  }
  if (!/^DONE\r?$/m.test(text)) problems.push(`${file}: not finished`);
  return { rows, problems };
}

function checkRow({ arch, line, setting, who, programs, lost, isClosed, agrees }) {
  const where = `${arch} ${line} ${setting} ${who}`;
  const names = Object.entries(programs);
  const absent = lost.filter(({ how }) => how === 'absent').map(({ name }) => name);
  const problems = names
    .filter(([name, how]) => how === 'FAILS' && !absent.some((layer) => NEEDS[name]?.has(layer)))
    .map(([name]) => `${where}: ${name} fails`);
  if (names.length !== 10) problems.push(`${where}: ${names.length} of ten programs`);
  if (names.some(([, how]) => how === 'OPEN') && !isClosed) problems.push(`${where}: open, unsaid`);
  if (!agrees) problems.push(`${where}: doctor and --fail-closed differ`);
  return problems;
}

function describe(names) {
  const all = [...KINDS].every((kind) => names.includes(kind));
  const rest = all ? names.filter((name) => !KINDS.has(name)) : names;
  return [...(all ? ['all namespaces'] : []), ...rest].join(', ') || '–';
}

function formatRow({ arch, release, setting, who, programs, lost, doctor, run }) {
  const having = (how) => Object.keys(programs).filter((name) => programs[name] === how);
  const missing = lost.filter(({ how }) => how === 'absent').map(({ name }) => name);
  const open = having('OPEN').map((name) => name.replace('-refused', ''));
  const fails = having('FAILS');
  const good = 10 - open.length - fails.length;
  const notes = [
    fails.length ? `not ${fails.join(', ')}` : '',
    open.length ? `open: ${open.join(', ')}` : '',
  ];
  const cells = [
    `${release}${arch === 'arm64' ? ' (arm64)' : ''}`,
    TITLES[setting] ?? setting,
    who,
    describe(missing.filter((name) => name !== 'cgroup')),
    [String(good), ...notes.filter(Boolean)].join('; '),
    doctor,
    `\`${(run ?? '').slice(-8)}\``,
  ];
  return `| ${cells.join(' | ')} |`;
}

const isWriting = process.argv[2] === '--write';
const directory = process.argv[isWriting ? 3 : 2];
const files = readdirSync(directory)
  .filter((name) => name.endsWith('.log'))
  .sort();
const read = files.map(readRows);
const rows = read.flatMap((one) => one.rows);
for (const row of rows)
  row.release = readFileSync(join(directory, `${row.arch}-${row.line}.release`), 'utf8').trim();
const problems = [...read.flatMap((one) => one.problems), ...rows.flatMap(checkRow)];
const byAge = (one, other) =>
  one.arch.localeCompare(other.arch) ||
  one.release.localeCompare(other.release, 'en', { numeric: true });
const table = [
  '| Kernel | Host | Who | Without | Of ten programs | `assay doctor` | Run id |',
  '| --- | --- | --- | --- | --- | --- | --- |',
  ...rows.toSorted(byAge).map(formatRow),
].join('\n');
console.log(table);
for (const problem of problems) console.error(`kernels: ${problem}`);
if (isWriting) {
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  writeFileSync(PAGE, `${page.slice(0, before)}\n\n${table}\n\n${page.slice(after)}`);
}
process.exitCode = problems.length > 0 ? 1 : 0;
