import * as fs from 'node:fs';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { gitRuns, plants } from '../marks.ts';

interface ConfigRow extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

const workspace = () => ['--preset', 'coding-agent'];

/** The workspace is a repository with one commit; the program runs in its root. */
export function config(row: ConfigRow): Attack {
  return {
    class: 'configuration',
    control: ['broker', 'mount'],
    flags: workspace,
    prepare: makeRepository,
    isSuccess: () => false,
    ...row,
  };
}

export function makeRepository(fixture: Fixture): void {
  fixture.git(['init', '-q', '--template=', '-b', 'main']);
  fixture.makeDirectory('work/.git/hooks');
  fixture.write('work/.gitignore', 'victim.*\nattack\n');
  fixture.git(['add', '.gitignore']);
  fixture.git(['commit', '-q', '-m', 'first']);
}

/** The workspace is a linked worktree: its repository lies outside. */
export function makeWorktree(fixture: Fixture): void {
  fixture.git(['init', '-q', '--template=', '-b', 'main', fixture.at('outside/repo')]);
  fixture.makeDirectory('outside/repo/.git/hooks');
  fixture.git(['commit', '-q', '--allow-empty', '-m', 'first'], fixture.at('outside/repo'));
  fixture.git(['worktree', 'add', '-q', fixture.at('wt')], fixture.at('outside/repo'));
  fs.renameSync(fixture.at('wt/.git'), fixture.at('work/.git'));
  fixture.write('outside/repo/.git/worktrees/wt/gitdir', `${fixture.at('work/.git')}\n`);
}

const CONFIG = 'work/.git/config';
/** A configuration whose fsmonitor makes base/pwned. Git runs it at the next `git status`. */
export const FSMONITOR = `printf '[core]\\n\\tfsmonitor = "touch %s/pwned; false"\\n' "$1"`;
const EMPTY_GITDIR = `mkdir -p evil/objects evil/refs && cp .git/HEAD evil/HEAD && { cat .git/config; ${FSMONITOR}; } > evil/config`;
export const HOOK_TEXT = `printf '#!/bin/sh\\ntouch %s/pwned\\n# %s\\n' "$1" "$2"`;

/** A worktree in `sub` whose common directory has no HEAD. */
export const WORKTREE = `mkdir -p x/wt sub; echo 'ref: refs/heads/m' > x/wt/HEAD; echo ../common > x/wt/commondir; echo 'gitdir: ../x/wt' > sub/.git`;
const COMMON_CONFIG = `{ printf '[core]\\n\\trepositoryformatversion = 0\\n'; ${FSMONITOR}; }`;

/** A directory that git would take for a common one was there before the run; nothing leads to it yet. */
function makeCommonDir(fixture: Fixture): void {
  makeRepository(fixture);
  for (const name of ['objects', 'refs', 'hooks']) fixture.makeDirectory(`work/x/common/${name}`);
  fixture.write('work/x/common/config', '[core]\n\trepositoryformatversion = 0\n');
}

export const GIT_ATTACKS: readonly Attack[] = [
  config({
    id: 'git-config-write',
    title: 'add to .git/config',
    script: 'echo "# $2" >> .git/config',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'git-config-command',
    title: 'git config',
    script: 'git config core.fsmonitor "$2"',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'git-config-rename-over',
    title: 'rename a file over .git/config',
    script: 'echo "# $2" > x; mv -f x .git/config',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'git-config-unlink',
    title: 'remove .git/config and make it anew',
    script: 'rm -f .git/config; echo "# $2" > .git/config',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'git-config-hard-link',
    title: 'hard-link .git/config and write the link',
    script: 'ln .git/config x; echo "# $2" >> x',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'config-git-config-reopen',
    title: 'reopen a read-only descriptor of it',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'git-config-symlink',
    title: 'make .git/config a symlink',
    script: 'echo "# $2" > x; ln -sf ../x .git/config',
    isSuccess: plants(CONFIG),
  }),
  config({
    id: 'git-init-anew',
    title: 'move .git away, git init, and configure that',
    script: `mv .git old; git init -q; ${FSMONITOR} >> .git/config`,
    control: ['broker', 'set aside'],
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-file',
    title: 'make .git a file that names a gitdir of ours',
    script: `${EMPTY_GITDIR}; mv .git old; echo "gitdir: $1/work/evil" > .git`,
    control: ['broker', 'set aside'],
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-symlink',
    title: 'make .git a symlink to a gitdir of ours',
    script: `${EMPTY_GITDIR}; mv .git old; ln -s evil .git`,
    control: ['broker', 'set aside'],
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-commondir',
    title: 'point .git/commondir to a gitdir of ours',
    script: `${EMPTY_GITDIR}; cp -r .git/objects .git/refs evil/; echo "$1/work/evil" > .git/commondir`,
    control: ['broker', 'set aside'],
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-config-worktree',
    title: 'write config.worktree where the repository uses it',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.git(['config', 'extensions.worktreeConfig', 'true']);
    },
    script: `${FSMONITOR} > .git/config.worktree`,
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-bare-lookalike',
    title: 'leave a directory that git takes for a repository',
    script: `mkdir -p docs && cp -r .git/objects .git/refs .git/HEAD docs/ && { printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n'; ${FSMONITOR}; } > docs/config`,
    control: ['set aside'],
    isSuccess: gitRuns('work/docs'),
  }),
  config({
    id: 'git-new-fsmonitor',
    title: 'leave a new repository with core.fsmonitor',
    script: `git init -q new; ${FSMONITOR} >> new/.git/config`,
    control: ['set aside'],
    isSuccess: gitRuns('work/new'),
  }),
  config({
    id: 'git-new-hooks-path',
    title: 'leave a new repository with core.hooksPath',
    script: `git init -q new; mkdir new/h; ${HOOK_TEXT} > new/h/pre-commit; chmod +x new/h/pre-commit; git -C new config core.hooksPath h`,
    control: ['set aside'],
    isSuccess: gitRuns('work/new'),
  }),
  config({
    id: 'git-new-filter',
    title: 'leave a new repository with a filter',
    script: `git init -q new; echo '* filter=x' > new/.gitattributes; git -C new config filter.x.clean "touch $1/pwned; cat"`,
    control: ['set aside'],
    isSuccess: gitRuns('work/new'),
  }),
  config({
    id: 'git-new-include',
    title: 'leave a new repository whose config includes a file that names a program',
    script: `git init -q new; ${FSMONITOR} > new/more; git -C new config include.path ../more`,
    control: ['set aside'],
    isSuccess: gitRuns('work/new'),
  }),
  config({
    id: 'git-new-worktree-config',
    title: 'leave a new repository with a program in config.worktree',
    script: `git init -q new; git -C new config extensions.worktreeConfig true; ${FSMONITOR} > new/.git/config.worktree`,
    control: ['set aside'],
    isSuccess: gitRuns('work/new'),
  }),
  config({
    id: 'git-common-config',
    title: 'leave a worktree whose common directory, without HEAD, names a program',
    script: `mkdir -p x/common/objects x/common/refs; ${WORKTREE}; (cd sub; echo a > a; git add a; git -c user.name=a -c user.email=a commit -q -m x); git add sub; ${COMMON_CONFIG} > x/common/config`,
    control: ['set aside'],
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-common-hook',
    title: 'write a hook of a common directory without HEAD',
    script: `mkdir -p x/common/objects x/common/refs x/common/hooks; ${WORKTREE}; ${HOOK_TEXT} > x/common/hooks/pre-commit; chmod +x x/common/hooks/pre-commit`,
    isSuccess: gitRuns('work/sub'),
  }),
  config({
    id: 'git-old-common-config',
    title: 'write the configuration of a common directory that was there',
    prepare: makeCommonDir,
    script: `${WORKTREE}; ${FSMONITOR} >> x/common/config`,
    isSuccess: gitRuns('work/sub'),
  }),
  config({
    id: 'git-old-common-hook',
    title: 'write a hook of a common directory that was there',
    prepare: makeCommonDir,
    script: `${WORKTREE}; ${HOOK_TEXT} > h; chmod +x h; mv h x/common/hooks/pre-commit`,
    isSuccess: gitRuns('work/sub'),
  }),
  config({
    id: 'git-config-included',
    title: 'write a file that .git/config includes',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.git(['config', 'include.path', '../dev.gitconfig']);
      fixture.write('work/dev.gitconfig', '[include]\n\tpath = more.gitconfig\n');
    },
    script: `${FSMONITOR} > more.gitconfig; ${FSMONITOR} >> dev.gitconfig`,
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-config-included-if',
    title: 'rename a file to one that .git/config includes on a condition',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.git(['config', 'includeIf.gitdir:**.path', '../dev.gitconfig']);
    },
    script: `${FSMONITOR} > x; mv x dev.gitconfig`,
    isSuccess: gitRuns('work'),
  }),
  config({
    id: 'git-config-included-nested',
    title: 'write a file that the configuration of a repository in the workspace includes',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.git(['init', '-q', '--template=', 'repos/nested']);
      fixture.git(['config', 'include.path', '../dev.gitconfig'], fixture.at('work/repos/nested'));
    },
    script: `${FSMONITOR} > repos/nested/dev.gitconfig`,
    isSuccess: gitRuns('work/repos/nested'),
  }),
  config({
    id: 'git-config-included-submodule',
    title: 'write a file that the configuration of a submodule includes',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.makeDirectory('work/.git/modules/a/b/c');
      fixture.git(['init', '-q', '--separate-git-dir=.git/modules/a/b/c/lib', 'a/b/c/lib']);
      fixture.git(['config', 'include.path', 'dev.gitconfig'], fixture.at('work/a/b/c/lib'));
    },
    script: `${FSMONITOR} > .git/modules/a/b/c/lib/dev.gitconfig`,
    isSuccess: gitRuns('work/a/b/c/lib'),
  }),
  config({
    id: 'git-config-included-worktree',
    title: 'write a file that the configuration of one worktree includes',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.git(['config', 'extensions.worktreeConfig', 'true']);
      fixture.git(['worktree', 'add', '-q', 'wt']);
      fixture.git(
        ['config', '--worktree', 'include.path', fixture.at('work/dev.gitconfig')],
        fixture.at('work/wt'),
      );
    },
    script: `${FSMONITOR} > dev.gitconfig`,
    isSuccess: gitRuns('work/wt'),
  }),
  config({
    id: 'git-hooks-path-worktree',
    title: 'write a hook where core.hooksPath leads from another worktree',
    prepare: (fixture) => {
      makeRepository(fixture);
      fixture.git(['worktree', 'add', '-q', 'wt']);
      fixture.git(['config', 'core.hooksPath', '.githooks']);
    },
    script: `mkdir -p wt/.githooks; ${HOOK_TEXT} > wt/.githooks/pre-commit; chmod +x wt/.githooks/pre-commit`,
    isSuccess: gitRuns('work/wt'),
  }),
];
