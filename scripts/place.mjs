// Where the tests run. Some start programs as an ordinary user, who has to reach the tree and node; and what lies below
// /tmp is hidden inside a sandbox by its private one. A clone where that goes wrong is tested in a copy of it.
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runThrough } from './ready.mjs';

const HIDDEN = ['/tmp', '/var/tmp'];
/** What no test needs, and what may be large. */
const LEFT_OUT = ['.git', 'demo'];

function isHidden(path) {
  return HIDDEN.some(
    (folder) => existsSync(folder) && `${path}/`.startsWith(`${realpathSync(folder)}/`),
  );
}

function canOthersReach(path) {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = statSync(folder);
    if ((mode & 0o001) === 0 || (folder === path && (mode & 0o004) === 0)) return false;
    if (folder === '/') return true;
  }
}

/** Undefined where the tests can run in the tree itself. */
function whyNotHere(root) {
  const node = realpathSync(process.execPath);
  if (isHidden(root) || isHidden(node)) return 'what lies below /tmp is hidden inside a sandbox';
  const isForOthers = process.getuid() !== 0 || (canOthersReach(root) && canOthersReach(node));
  return isForOthers ? undefined : 'an ordinary user cannot reach the tree, as some tests have to';
}

function findParent() {
  const parents = process.getuid() === 0 ? ['/var/lib', '/opt', '/srv'] : [homedir()];
  return parents.find((folder) => {
    try {
      accessSync(folder, constants.W_OK);
      return !isHidden(realpathSync(folder));
    } catch {
      return false;
    }
  });
}

function copyTree(root, place) {
  const tree = join(place, 'tree');
  mkdirSync(tree, { mode: 0o755 });
  const names = readdirSync(root).filter(
    (name) => !LEFT_OUT.includes(name) && !name.startsWith('dist.'),
  );
  for (const name of names) {
    const { status } = spawnSync('cp', ['-a', join(root, name), tree], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`Cannot copy ${name} to ${tree}`);
  }
  // Data that lies beside a checkout, and is read where it is.
  const shared = join(root, '..', 'shared');
  if (existsSync(shared)) symlinkSync(realpathSync(shared), join(place, 'shared'));
  // The owner of a copy is who makes it, whoever the clone belongs to.
  if (process.getuid() === 0) spawnSync('chown', ['-R', '0:0', tree]);
  spawnSync('chmod', ['-R', 'go+rX', tree]);
  return tree;
}

/** The same command in a copy, whose exit code it returns; undefined where the tests can run here. */
export async function runElsewhere(root, args) {
  const reason = whyNotHere(realpathSync(root));
  if (reason === undefined) return undefined;
  const parent = findParent();
  if (parent === undefined) {
    console.log(
      `Some tests will fail, since ${reason}, and there is no other place to copy it to.`,
    );
    return undefined;
  }
  const place = mkdtempSync(join(parent, 'assay-test-'));
  console.log(`Testing a copy in ${place}: ${reason}.`);
  try {
    chmodSync(place, 0o755);
    const tree = copyTree(root, place);
    const node = join(place, 'bin', 'node');
    mkdirSync(dirname(node), { mode: 0o755 });
    cpSync(realpathSync(process.execPath), node);
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
    return await runThrough(node, [join(tree, 'scripts/test.mjs'), ...args], { cwd: tree, env });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
