import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { plants } from '../marks.ts';
import { config, HOOK_TEXT, makeRepository, makeWorktree } from './git.ts';

function makeNestedRepositories(fixture: Fixture): void {
  makeRepository(fixture);
  fixture.git(['init', '-q', '--template=', 'nested']);
  fixture.git(['init', '-q', '--template=', '--bare', '.git/modules/lib']);
  for (const path of ['work/nested/.git/hooks', 'work/.git/modules/lib/hooks'])
    fixture.makeDirectory(path);
}

const HOOK = 'work/.git/hooks/pre-commit';

/** Programs that git would run by itself. */
export const GIT_HOOK_ATTACKS: readonly Attack[] = [
  config({
    id: 'hook-write',
    title: 'write a hook',
    script: 'echo "$2" > .git/hooks/pre-commit',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-dotted-path',
    title: 'write a hook by a path with detours',
    script: 'echo "$2" > ./sub/..//.git/./refs/../hooks/pre-commit',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-proc-cwd',
    title: 'write a hook by /proc/self/cwd',
    script: 'echo "$2" > /proc/self/cwd/.git/hooks/pre-commit',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-rename-in',
    title: 'rename a file into hooks',
    script: 'echo "$2" > x; mv x .git/hooks/pre-commit',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-directory-swap',
    title: 'put another directory in the place of hooks',
    script: 'mkdir x; echo "$2" > x/pre-commit; mv .git/hooks .git/old; mv x .git/hooks',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-gitdir-detour',
    title: 'rename .git, write the hook, rename it back',
    script: 'mv .git g; echo "$2" > g/hooks/pre-commit; mv g .git',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-gitdir-copy',
    title: 'put a copy of .git with a hook in its place',
    script: 'cp -r .git g; echo "$2" > g/hooks/pre-commit; mv .git old; mv g .git',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-symlinked-directory',
    title: 'make hooks a symlink',
    script: 'mkdir evil; echo "$2" > evil/pre-commit; rmdir .git/hooks; ln -s ../evil .git/hooks',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-symlink',
    title: 'make the hook a symlink',
    script: 'echo "$2" > evil; ln -s ../../evil .git/hooks/pre-commit',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-hard-link',
    title: 'make the hook a hard link',
    script: 'echo "$2" > evil; ln evil .git/hooks/pre-commit',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-bind-mount',
    title: 'bind hooks elsewhere and write there',
    control: ['seccomp', 'landlock', 'broker', 'mount'],
    script: `mkdir m; unshare -Urm sh -c 'mount --bind .git/hooks m && echo "$1" > m/pre-commit' sh "$2"`,
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'config-hooks-dirfd',
    title: 'write a hook by a directory descriptor',
    isSuccess: plants(HOOK),
  }),
  config({
    id: 'hook-nested',
    title: 'write a hook of a nested repository',
    prepare: makeNestedRepositories,
    script: 'echo "$2" > nested/.git/hooks/pre-commit',
    isSuccess: plants('work/nested/.git/hooks/pre-commit'),
  }),
  config({
    id: 'hook-submodule',
    title: "write a hook of a submodule's gitdir",
    prepare: makeNestedRepositories,
    script: 'echo "$2" > .git/modules/lib/hooks/pre-commit',
    isSuccess: plants('work/.git/modules/lib/hooks/pre-commit'),
  }),
  config({
    id: 'hook-worktree',
    title: 'write a hook of the repository of a worktree',
    prepare: makeWorktree,
    control: ['landlock', 'mount'],
    script: 'echo "$2" > "$1/outside/repo/.git/hooks/pre-commit"',
    isSuccess: plants('outside/repo/.git/hooks/pre-commit'),
  }),
  config({
    id: 'hook-new-repository',
    title: 'write a hook of a repository made inside',
    script: `git init -q new; mkdir -p new/.git/hooks; ${HOOK_TEXT} > new/.git/hooks/pre-commit; chmod +x new/.git/hooks/pre-commit`,
    isSuccess: plants('work/new/.git/hooks/pre-commit'),
  }),
  config({
    id: 'hook-template',
    title: 'have git init copy a hook',
    script: `mkdir -p t/hooks; ${HOOK_TEXT} > t/hooks/pre-commit; chmod +x t/hooks/pre-commit; git init -q --template=t new`,
    isSuccess: plants('work/new/.git/hooks/pre-commit'),
  }),
  config({
    id: 'hook-gitdir-from-parts',
    title: 'assemble a gitdir under another name, then rename it to .git',
    script: `cp -r .git x; ${HOOK_TEXT} > x/hooks/pre-commit; chmod +x x/hooks/pre-commit; mkdir fresh; mv x fresh/.git`,
    isSuccess: plants('work/fresh/.git/hooks/pre-commit'),
  }),
];
