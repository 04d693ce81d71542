import * as fs from 'node:fs';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { changes, isGone, plants } from '../marks.ts';
import { config, makeRepository } from './git.ts';

function withFile(path: string, text: string): Attack['prepare'] {
  return (fixture) => {
    makeRepository(fixture);
    fixture.write(path, text);
  };
}

function withDeepRepository(fixture: Fixture): void {
  makeRepository(fixture);
  fixture.makeDirectory('work/group');
  fixture.git(['init', '-q', '--template=', 'group/old']);
}

/** Rewrites .git/config as git does, by another file, which has a number that the program's own files had before. */
function reuseInode(fixture: Fixture): void {
  const wanted = new Set(fs.readFileSync(fixture.at('work/inodes'), 'utf8').trim().split('\n'));
  const text = fs.readFileSync(fixture.at('work/.git/config'), 'utf8');
  for (let i = 0; i < 600; i++) {
    fixture.write(`work/.git/x${i}`, text);
    if (!wanted.has(String(fs.statSync(fixture.at(`work/.git/x${i}`)).ino))) continue;
    fs.renameSync(fixture.at(`work/.git/x${i}`), fixture.at('work/.git/config'));
    return;
  }
}

/** Protected files that are not there before. */
const ABSENT = [
  '.envrc',
  '.npmrc',
  '.husky/pre-commit',
  '.vscode/tasks.json',
  '.idea/workspace.xml',
  '.mcp.json',
  '.claude/settings.json',
  '.cursor/mcp.json',
  '.codex/config.toml',
  '.gemini/settings.json',
  '.github/workflows/x.yml',
  '.bashrc',
  'deep/down/.envrc',
];

export const CONFIG_ATTACKS: readonly Attack[] = [
  ...ABSENT.map((path) =>
    config({
      id: `create-${path}`,
      title: `create ${path}`,
      script: `mkdir -p "$(dirname ${path})"; echo "$2" > ${path}`,
      isSuccess: plants(`work/${path}`),
    }),
  ),
  config({
    id: 'config-rename-in',
    title: 'rename a file to .envrc',
    script: 'echo "$2" > x; mv x .envrc',
    isSuccess: plants('work/.envrc'),
  }),
  config({
    id: 'config-directory-from-tmp',
    title: 'move a directory that holds .envrc in from tmp',
    script: 'd=$(mktemp -d); mkdir "$d/x"; echo "$2" > "$d/x/.envrc"; mv "$d/x" moved; rm -rf "$d"',
    isSuccess: plants('work/moved/.envrc'),
  }),
  config({
    id: 'config-directory-rename',
    title: 'rename a directory to .claude',
    script: 'mkdir x; echo "$2" > x/settings.json; mv x .claude',
    isSuccess: plants('work/.claude/settings.json'),
  }),
  config({
    id: 'config-symlinked-directory',
    title: 'make .vscode a symlink',
    script: 'mkdir x; echo "$2" > x/tasks.json; ln -s x .vscode',
    isSuccess: plants('work/.vscode/tasks.json'),
  }),
  config({
    id: 'config-symlink',
    title: 'make .envrc a symlink',
    script: 'echo "$2" > x; ln -s x .envrc',
    isSuccess: plants('work/.envrc'),
  }),
  config({
    id: 'config-hard-link-out',
    title: 'hard-link an existing .envrc and write the link',
    prepare: withFile('work/.envrc', 'old'),
    script: 'ln .envrc x; echo "$2" > x',
    isSuccess: plants('work/.envrc'),
  }),
  config({
    id: 'config-truncate',
    title: 'empty an existing .mcp.json',
    prepare: withFile('work/.mcp.json', 'old'),
    script: ': > .mcp.json',
    isSuccess: changes('work/.mcp.json', 'old'),
  }),
  config({
    id: 'config-remove',
    title: 'remove an existing .envrc',
    prepare: withFile('work/.envrc', 'old'),
    script: 'rm -f .envrc',
    isSuccess: isGone('work/.envrc'),
  }),
  config({
    id: 'config-replace-directory',
    title: 'put another directory in the place of .vscode',
    prepare: withFile('work/.vscode/tasks.json', 'old'),
    script: 'mv .vscode old; mkdir .vscode; echo "$2" > .vscode/tasks.json',
    isSuccess: plants('work/.vscode/tasks.json'),
  }),
  config({
    id: 'config-parent-rename',
    title: 'rename the directory around an existing .envrc, change it, rename it back',
    prepare: withFile('work/sub/.envrc', 'old'),
    script: 'mv sub x; echo "$2" > x/.envrc; mv x sub',
    isSuccess: plants('work/sub/.envrc'),
  }),
  config({
    id: 'config-renamed-dirfd',
    title: 'rename an open directory to .idea',
    isSuccess: plants('work/.idea/workspace.xml'),
  }),
  config({
    id: 'config-renamed-file',
    title: 'rename an open file to .envrc',
    isSuccess: plants('work/.envrc'),
  }),
  config({
    id: 'config-tmpfile',
    title: 'O_TMPFILE and linkat to .envrc',
    isSuccess: plants('work/.envrc'),
  }),
  config({
    id: 'config-hard-link-in',
    title: 'hard-link a file to .npmrc',
    isSuccess: plants('work/.npmrc'),
  }),
  config({
    id: 'config-exchange',
    title: 'exchange a file with an existing .mcp.json',
    prepare: withFile('work/.mcp.json', 'old'),
    isSuccess: plants('work/.mcp.json'),
  }),
  config({
    id: 'config-deep-path',
    title: 'write .git/config where its path is nearly as long as the kernel takes',
    prepare: withDeepRepository,
    isSuccess: plants('work/group/old/.git/config'),
  }),
  config({
    id: 'config-deeper-path',
    title: 'write .git/config where its path is longer than the kernel tells',
    prepare: withDeepRepository,
    isSuccess: plants('work/group/old/.git/config'),
  }),
  config({
    id: 'config-moving-parent',
    title: 'write .git/config while the directory around it is renamed',
    prepare: withDeepRepository,
    isSuccess: plants('work/group/old/.git/config'),
  }),
  config({
    id: 'config-reused-inode',
    title: 'write .git/config when it has the inode number of a file of ours',
    whenReady: reuseInode,
    isSuccess: plants('work/.git/config'),
  }),
  config({
    id: 'race-config-directory',
    title: 'swap a directory with a symlink to .vscode',
    prepare: withFile('work/.vscode/settings.json', 'old'),
    isSuccess: plants('work/.vscode/tasks.json'),
  }),
  config({
    id: 'race-config-rename',
    title: 'put a directory in the place of a file that is renamed to .github',
    isSuccess: plants('work/.github/workflows/ci.yml'),
  }),
  config({
    id: 'config-own-policy',
    title: "rewrite assay's own policy",
    prepare: withFile('work/assay.yaml', 'api_version: assay/v1\nextends: [coding-agent]\n'),
    flags: () => ['--policy', 'assay.yaml'],
    script: 'echo "# $2" >> assay.yaml',
    isSuccess: plants('work/assay.yaml'),
  }),
];
