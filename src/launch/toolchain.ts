import { resolve } from 'node:path';
import { isAtOrBelow, type FileTree } from '../plan/file-tree.ts';
import { escapeLiteral } from '../policy/glob.ts';
import type { FsRule } from '../policy/policy.ts';
import { parentOf } from './helper-path.ts';

/** Variables by which version managers say where they keep their programs. */
const ROOT_VARIABLES = [
  'PYENV_ROOT',
  'NVM_DIR',
  'VOLTA_HOME',
  'RUSTUP_HOME',
  'ASDF_DATA_DIR',
  'SDKMAN_DIR',
  'RBENV_ROOT',
  'BUN_INSTALL',
];

/** Programs live in these beside settings and secrets, so only their bin directory is shown. */
const MIXED = new Set(['.cargo', '.local', '.config', '.npm', '.docker', '.kube', '.aws', '.ssh']);

const PROGRAM_DIRECTORIES: ReadonlySet<string> = new Set(['bin', 'shims', 'sbin']);

/** Shown to every program. */
const SYSTEM_PROGRAMS = ['/usr', '/bin', '/sbin'];

function isOfSystem(path: string): boolean {
  return SYSTEM_PROGRAMS.some((dir) => isAtOrBelow(path, dir));
}

function toRule(path: string): FsRule {
  return {
    effect: 'allow',
    rights: ['read', 'exec'],
    pattern: escapeLiteral(path),
    origin: { source: 'toolchain', key: 'fs.exec', text: path, isOfHost: true },
  };
}

/** `…/versions/node/v20/bin` stands for the whole of `…/versions/node/v20`, where its libraries are. */
function rootOfBin(bin: string, home: string): string {
  const parent = parentOf(bin);
  const isHome = parent === home || isAtOrBelow(home, parent);
  const isMixed = MIXED.has(parent.slice(parent.lastIndexOf('/') + 1));
  const isBin = PROGRAM_DIRECTORIES.has(bin.slice(bin.lastIndexOf('/') + 1));
  return !isHome && !isMixed && isBin ? parent : bin;
}

/** A program inside a package tree needs that tree: `…/lib/node_modules/tool/cli.js` needs `…/lib/node_modules`. */
function rootOfProgram(path: string): string {
  const cut = path.indexOf('/node_modules/');
  return cut < 0 ? parentOf(path) : path.slice(0, cut + '/node_modules'.length);
}

function findCommand(name: string, path: string, tree: FileTree): string | null {
  if (name.includes('/')) return tree.realpath(name);
  for (const dir of path.split(':')) {
    if (!dir.startsWith('/')) continue;
    const found = tree.realpath(`${dir}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

export interface ToolchainOptions {
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly tree: FileTree;
}

/**
 * Rules for programs that the user has installed for themselves: what PATH names inside the home directory, and the
 * command itself. Only reading and executing; a PATH entry inside the workspace gets nothing that the policy does not give.
 */
export function findToolchainRules({ command, env, home, cwd, tree }: ToolchainOptions): FsRule[] {
  const roots = new Set<string>();
  const realHome = tree.realpath(home) ?? home;
  const path = env['PATH'] ?? '';
  const add = (root: string | null): void => {
    if (
      root === null ||
      root === '/' ||
      root === realHome ||
      isAtOrBelow(root, cwd) ||
      isAtOrBelow(cwd, root)
    )
      return;
    if (isOfSystem(root)) return;
    roots.add(root);
  };
  for (const dir of path.split(':')) {
    if (!dir.startsWith('/') || isOfSystem(dir)) continue;
    const real = tree.realpath(dir);
    if (real === null || isAtOrBelow(realHome, real)) continue;
    add(rootOfBin(dir, home));
    add(rootOfBin(real, realHome));
  }
  for (const name of ROOT_VARIABLES) {
    const value = env[name];
    if (value?.startsWith('/') && !isAtOrBelow(realHome, value)) add(tree.realpath(value));
  }
  // A command in the workspace may be a link that somebody planted there to have its target shown.
  const isInWorkspace = command.includes('/') && isAtOrBelow(resolve(cwd, command), cwd);
  const program = isInWorkspace ? null : findCommand(command, path, tree);
  if (program !== null) add(rootOfProgram(program));
  return Array.from(roots, toRule);
}
