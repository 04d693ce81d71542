import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Attack } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { gitRuns, pwned } from '../marks.ts';
import { config, FSMONITOR, HOOK_TEXT, makeRepository, WORKTREE } from './git.ts';

type Row = Parameters<typeof config>[0];

/** A repository of this run keeps something that makes git run a program later, although such things are set aside. */
function leave(row: Row): Attack {
  return config({ control: ['set aside'], isSuccess: gitRuns('work/new'), ...row });
}

/** `fsmonitor` alone, for a section that is open already. */
const SETTING = `fsmonitor = "touch %s/pwned; false"\\n' "$1"`;
const NEW_FSMONITOR = `git init -q new; ${FSMONITOR} >> new/.git/config`;

/** Runs git in whatever directory below the workspace the run has left, by a name that can be typed. */
function gitRunsIn(find: (name: Buffer) => boolean): Attack['isSuccess'] {
  return async (result, fixture) => {
    // A daemon without the sandbox goes on for 1 s.
    await sleep(1200);
    const name = fs.readdirSync(fixture.work, { encoding: 'buffer' }).find(find);
    if (name === undefined) return false;
    const path = Buffer.concat([Buffer.from(`${fixture.work}/`), name]);
    fs.renameSync(path, fixture.at('work/found'));
    return gitRuns('work/found')(result, fixture);
  };
}

/** What an earlier run may write into an ordinary directory. */
function withEarlierFiles(files: (fixture: Fixture) => Readonly<Record<string, string>>) {
  return (fixture: Fixture) => {
    makeRepository(fixture);
    for (const [name, text] of Object.entries(files(fixture)))
      fixture.write(`work/plain/${name}`, text, 0o755);
  };
}

const PLAIN_CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n';
const BECOME_GITDIR = 'cp -r .git/objects .git/refs .git/HEAD plain/';

/** The user lets git use helpers for addresses; what the addresses are is still not for the program to say. */
function allowExt(fixture: Fixture): void {
  makeRepository(fixture);
  fs.appendFileSync(fixture.at('home/.gitconfig'), '[protocol "ext"]\n\tallow = always\n');
}

const ADD_REMOTE = 'git -C new config remote.o.url "ext::sh -c touch% $1/pwned"';

/** A git directory that names programs came with the files of the project; so far nothing leads to it. */
function withOldGitDir(fixture: Fixture): void {
  makeRepository(fixture);
  fixture.git(['init', '-q', '--template=', '--bare', 'old']);
  const setting = `\tfsmonitor = "touch ${fixture.at('pwned')}; false"\n`;
  fixture.write('work/old/config', PLAIN_CONFIG.replace('\tworktree = .\n', setting));
}

function withOldHooks(fixture: Fixture): void {
  makeRepository(fixture);
  fixture.git(['init', '-q', '--template=', 'old']);
  fixture.write(
    'work/old/.git/hooks/pre-commit',
    `#!/bin/sh\ntouch ${fixture.at('pwned')}\n`,
    0o755,
  );
  fs.renameSync(fixture.at('work/old/.git'), fixture.at('work/old/plain'));
}

const WRITE_COMMON_HOOK = `${HOOK_TEXT} > x/common/hooks/pre-commit; chmod +x x/common/hooks/pre-commit`;

export const GIT_AFTERMATH_ATTACKS: readonly Attack[] = [
  leave({
    id: 'aftermath-comment',
    title: 'a setting behind a comment that ends in a backslash',
    script: `git init -q new; printf '[core]\\n; x\\\\\\n${SETTING} >> new/.git/config`,
  }),
  leave({
    id: 'aftermath-one-line',
    title: 'a setting behind two section headers on one line',
    script: `git init -q new; printf '[a] [core] ${SETTING} >> new/.git/config`,
  }),
  leave({
    id: 'aftermath-header-and-setting',
    title: 'a setting on the line of its header',
    script: `git init -q new; printf '[core] ${SETTING} >> new/.git/config`,
  }),
  leave({
    id: 'aftermath-taken-name',
    title: 'a directory where the file would be moved',
    script: `${NEW_FSMONITOR}; mkdir -p new/.git/config.assay-set-aside/x new/.git/config.worktree.assay-set-aside/x`,
  }),
  leave({
    id: 'aftermath-timeout',
    title: 'a run that the time limit ends, deaf to SIGTERM',
    flags: () => ['--preset', 'coding-agent', '--timeout', '1'],
    script: `${NEW_FSMONITOR}; trap '' TERM; sleep 9`,
    bareScript: NEW_FSMONITOR,
  }),
  leave({
    id: 'aftermath-not-utf8',
    title: 'a repository whose name is not UTF-8',
    script: `d=$(printf 'n\\377w'); git init -q "$d"; ${FSMONITOR} >> "$d/.git/config"`,
    isSuccess: gitRunsIn((name) => name.includes(0xff)),
  }),
  leave({
    id: 'aftermath-line-break',
    title: 'a repository whose name holds a line break and quotes',
    script: `d=$(printf 'n\\n"\\\\w'); git init -q "$d"; ${FSMONITOR} >> "$d/.git/config"`,
    isSuccess: gitRunsIn((name) => name.includes(0x0a)),
  }),
  leave({
    id: 'aftermath-partial-clone',
    title: 'an address that is a command, for objects that are missing',
    prepare: allowExt,
    script: `git init -q new; cd new; echo x > f; git add f; git -c user.name=a -c user.email=a commit -q -m a; cd ..
t=$(git -C new rev-parse 'HEAD^{tree}'); rm -f new/.git/index "new/.git/objects/$(echo "$t" | cut -c1-2)/$(echo "$t" | cut -c3-)"
${ADD_REMOTE}; git -C new config core.repositoryFormatVersion 1; git -C new config extensions.partialClone o`,
  }),
  leave({
    id: 'aftermath-ext-address',
    title: 'an address that is a command, for the next git fetch',
    prepare: allowExt,
    script: `git init -q new; ${ADD_REMOTE}`,
    isSuccess: (result, fixture) => {
      fixture.git(['fetch', 'o'], fixture.at('work/new'));
      return pwned(result, fixture);
    },
  }),
  leave({
    id: 'aftermath-earlier-hook',
    title: 'make a git directory of one in which an earlier run left hooks',
    prepare: withEarlierFiles((fixture) => ({
      'hooks/pre-commit': `#!/bin/sh\ntouch ${fixture.at('pwned')}\n`,
      config: PLAIN_CONFIG,
    })),
    script: BECOME_GITDIR,
    isSuccess: gitRuns('work/plain'),
  }),
  leave({
    id: 'aftermath-earlier-config',
    title: 'make a git directory of one in which an earlier run left a configuration',
    prepare: withEarlierFiles((fixture) => ({
      config: `${PLAIN_CONFIG}\tfsmonitor = "touch ${fixture.at('pwned')}; false"\n`,
    })),
    script: BECOME_GITDIR,
    isSuccess: gitRuns('work/plain'),
  }),
  leave({
    id: 'aftermath-moved-hooks',
    title: 'move hooks, written elsewhere, into a new repository',
    script: `mkdir h; ${HOOK_TEXT} > h/pre-commit; chmod +x h/pre-commit; git init -q new; rm -rf new/.git/hooks; mv h new/.git/hooks`,
  }),
  leave({
    id: 'aftermath-unlisted-hooks',
    title: 'hooks in a directory that cannot be listed',
    script: `mkdir -p new x/hooks; ${HOOK_TEXT} > x/hooks/pre-commit; chmod +x x/hooks/pre-commit; chmod 311 x/hooks; cp -r .git/objects .git/refs .git/HEAD x/; echo 'gitdir: ../x' > new/.git`,
  }),
  leave({
    id: 'aftermath-renaming-daemon',
    title: 'a daemon renames the repository while the program ends',
    script: `git init -q a; ${FSMONITOR} >> a/.git/config; exec ./attack daemon-renaming "$1" "$2"`,
    isSuccess: gitRunsIn((name) => name.equals(Buffer.from('a')) || name.equals(Buffer.from('b'))),
  }),
  leave({
    id: 'aftermath-common-refs-last',
    title: 'write a hook, then make a common directory of the one around it',
    script: `mkdir -p x/common/hooks x/common/objects; ${WRITE_COMMON_HOOK}; mkdir x/common/refs; ${WORKTREE}`,
    isSuccess: gitRuns('work/sub'),
  }),
  leave({
    id: 'aftermath-common-moved-parts',
    title: 'make a common directory of parts that are moved and linked there',
    script: `mkdir -p x/common/hooks o r; ${WRITE_COMMON_HOOK}; ln -s ../../r x/common/refs; mv o x/common/objects; ${WORKTREE}`,
    isSuccess: gitRuns('work/sub'),
  }),
  leave({
    id: 'aftermath-common-renamed',
    title: 'finish a common directory with a hook under another name',
    script: `mkdir -p x/common/hooks x/common/refs; ${WRITE_COMMON_HOOK}; ${WORKTREE}; mv x y; mkdir y/common/objects; mv y x`,
    isSuccess: gitRuns('work/sub'),
  }),
  leave({
    id: 'aftermath-common-taken-apart',
    title: 'take a common directory that was there apart, write a hook, and put it together',
    prepare: (fixture) => {
      makeRepository(fixture);
      for (const name of ['objects', 'refs', 'hooks'])
        fixture.makeDirectory(`work/x/common/${name}`);
    },
    script: `mv x/common/refs r; ${WRITE_COMMON_HOOK}; mv r x/common/refs; ${WORKTREE}`,
    isSuccess: gitRuns('work/sub'),
  }),
  leave({
    id: 'aftermath-gitfile',
    title: 'a .git file that leads to an old git directory with a program in its configuration',
    prepare: withOldGitDir,
    script: `mkdir new; echo 'gitdir: ../old' > new/.git`,
  }),
  leave({
    id: 'aftermath-gitfile-hooks',
    title: 'a .git file that leads to an old git directory with hooks',
    prepare: withOldHooks,
    script: `mkdir new; echo "gitdir: $PWD/old/plain" > new/.git`,
  }),
  leave({
    id: 'aftermath-gitfile-moved',
    title: 'a .git file that is renamed to, linked to, and moved along with its directory',
    prepare: withOldGitDir,
    script: `mkdir a b; echo 'gitdir: ../old' > a/x; mv a/x a/.git; ln a/.git b/.git; rm -r a; mv b new`,
  }),
  leave({
    id: 'aftermath-gitfile-worktree',
    title: 'a .git file that leads to a new worktree of an old git directory',
    prepare: withOldGitDir,
    script: `mkdir -p wt new; cp old/HEAD wt/; echo ../old > wt/commondir; echo 'gitdir: ../wt' > new/.git`,
  }),
  leave({
    id: 'aftermath-commondir',
    title: 'a directory that becomes a bare repository by its common directory',
    prepare: withOldGitDir,
    script: `mkdir new; cp old/HEAD new/; echo ../old > new/commondir; mkdir new/refs`,
    isSuccess: (result, fixture) => {
      fixture.git(['--work-tree=.', 'status'], fixture.at('work/new'));
      return pwned(result, fixture);
    },
  }),
  leave({
    id: 'aftermath-gitfile-workspace',
    title: 'a .git file in a workspace that was no repository',
    prepare: (fixture) => {
      withOldGitDir(fixture);
      fs.rmSync(fixture.at('work/.git'), { recursive: true });
    },
    script: `echo 'gitdir: old' > .git`,
    isSuccess: gitRuns('work'),
  }),
];
