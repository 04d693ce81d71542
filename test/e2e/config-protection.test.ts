import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';

import { expect, it } from 'vitest';

import { describeForEachPerson } from './as-user.ts';
import { type Place, usePlaces } from './place.ts';
import { makeEnv, PYTHON, runAssay, runForSummary, runScript } from './run-assay.ts';

const CODING = ['--preset', 'coding-agent'];
const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};
const FLAGS = [...CODING, '--env-allow', Object.keys(IDENTITY).join(',')];

const REFUSED = [
  '.git/hooks/pre-commit',
  '.git/config',
  'nested/.git/hooks/post-checkout',
  '.bashrc',
  '.envrc',
  '.npmrc',
  '.husky/pre-commit',
  '.vscode/tasks.json',
  'sub/dir/.vscode/settings.json',
  '.idea/workspace.xml',
  '.mcp.json',
  '.claude/settings.json',
  '.cursor/mcp.json',
  '.codex/config.toml',
  '.gemini/settings.json',
  '.github/workflows/ci.yml',
  '.gitlab-ci.yml',
  'assay.yaml',
  '.assay/state',
];

describeForEachPerson('configuration', (person) => {
  const makePlace = usePlaces(person);

  function git(place: Place, ...args: string[]): void {
    const words = [
      ...person.prefix,
      'git',
      '-c',
      'init.defaultBranch=main',
      '-c',
      'protocol.file.allow=always',
      ...args,
    ];
    execFileSync(words[0] ?? '', words.slice(1), {
      cwd: place.work,
      env: makeEnv(place, IDENTITY),
      stdio: 'pipe',
    });
  }

  function makeRepository(): Place {
    const place = makePlace();
    git(place, 'init', '-q', '.');
    place.write('work/file', 'one\n');
    git(place, 'add', '.');
    git(place, 'commit', '-qm', 'one');
    return place;
  }

  it('that would run later cannot be written, whether it exists or not, and nothing is left behind', async () => {
    const place = makeRepository();
    fs.rmSync(place.at('work/.git/hooks'), { recursive: true, force: true });
    place.write('work/.bashrc', 'old\n');
    const config = place.read('work/.git/config');
    const script = REFUSED.map(
      (path) =>
        `(mkdir -p "$(dirname ${path})"; echo planted > ${path}) 2> /dev/null && echo "wrote ${path}"`,
    ).join('\n');
    const { stdout } = await runScript(place, `${script}\nexit 0`, { flags: CODING });
    expect(stdout).toBe('');
    expect(place.read('work/.bashrc')).toBe('old\n');
    expect(place.read('work/.git/config')).toBe(config);
    for (const path of REFUSED.filter((name) => name !== '.bashrc' && name !== '.git/config'))
      expect(place.has(`work/${path}`), path).toBe(false);
    for (const path of ['.vscode', '.idea', '.husky', '.claude', '.mcp.json'])
      expect(place.has(`work/${path}`), path).toBe(false);
  });

  it('cannot be brought in by rename, link, exchange, or a directory made elsewhere', async () => {
    const place = makeRepository();
    const ways = [
      'echo x > a; mv a .bashrc',
      'echo x > a; ln a .bashrc',
      'ln -s /tmp/x .bashrc',
      'mkdir -p d/hooks; echo x > d/hooks/pre-commit; mv d/hooks .git/hooks2; mv .git/hooks .git/old; mv .git/hooks2 .git/hooks',
      'mkdir e; echo x > e/settings.json; mv e .vscode',
      'ln -s e .vscode',
      'mkdir -p /tmp/t/.vscode; echo x > /tmp/t/.vscode/tasks.json; mv /tmp/t moved',
      'cp -r /tmp/t copied',
      'mkdir -p g/workflows; echo x > g/workflows/ci.yml; mv g .github',
      `${PYTHON} -c "import os; os.mkdir('h'); open('h/x','w').close(); os.rename('h', '.claude')"`,
      'git config core.fsmonitor /bin/false',
      'git config core.hooksPath /tmp',
      'cp .git/config c; echo "[core] fsmonitor = x" >> c; mv c .git/config',
      'mv .git git2; mkdir .git; cp -r git2/* .git/; echo x > .git/hooks/pre-commit',
    ];
    const before = fs.readdirSync(place.at('work/.git/hooks')).toSorted();
    await runScript(place, `${ways.map((way) => `(${way}) 2> /dev/null`).join('\n')}\nexit 0`, {
      flags: CODING,
    });
    for (const path of [
      '.bashrc',
      '.vscode',
      '.claude',
      '.github/workflows',
      'moved/.vscode/tasks.json',
      'copied/.vscode/tasks.json',
    ])
      expect(place.has(`work/${path}`), path).toBe(false);
    expect(fs.readdirSync(place.at('work/.git/hooks')).toSorted()).toEqual(before);
    expect(place.read('work/.git/config')).not.toMatch(/fsmonitor|hooksPath/);
  });

  it('leaves ordinary git work alone: commit, branch, stash, worktree, merge, rebase, gc', async () => {
    const place = makeRepository();
    const script = `set -e
echo two >> file; git commit -qam two
git checkout -qb topic; echo three > three; git add three; git commit -qm three
echo dirty >> file; git stash -q; git stash pop -q; git checkout -q file
git checkout -q main; git merge -q --no-ff -m merge topic; git rebase -q topic; git tag v1
git worktree add -q ../work/tree topic; cd tree; echo four > four; git add four; git commit -qm four; cd ..
git worktree remove --force tree; git gc -q; git fsck --no-progress --no-dangling
git log --oneline | wc -l; git status --short`;
    const { stdout, stderr, code } = await runScript(place, script, {
      flags: FLAGS,
      env: IDENTITY,
    });
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: '3\n' });
  });

  it('lets the run make and clone repositories, with their own configuration', async () => {
    const place = makeRepository();
    const script = `set -e
git init -q new; cd new; git config user.name me; git config core.autocrlf false; echo x > x; git add x; git commit -qm x; cd ..
git clone -q new clone; cd clone; git config remote.origin.url ../new; git pull -q; cd ..
git clone -q --bare new bare.git; git -C bare.git log --oneline | wc -l
ls -A new/.git/hooks clone/.git/hooks bare.git/hooks 2> /dev/null | grep -v ':' | wc -w`;
    const { outcome, summary } = await runForSummary({
      place,
      flags: FLAGS,
      env: IDENTITY,
      command: ['/bin/sh', '-c', script],
    });
    expect({ code: outcome.code, stdout: outcome.stdout, stderr: outcome.stderr }).toMatchObject({
      code: 0,
      stdout: '1\n0\n',
    });
    expect(summary.setAside).toEqual([]);
    expect(place.read('work/new/.git/config')).toContain('autocrlf');
  });

  it('is allowed by the flag that is hinted, and no flag is where none helps', async () => {
    const place = makeRepository();
    const script = `mv "$1" .husky; mkdir -p "a
b"; echo x > "a
b/.envrc"; ln -s /tmp sub.git; git config a.b c; python3 -c 'import os, stat; os.mknod("none", stat.S_IFCHR)'`;
    const run = async (name: string, flags: readonly string[]) => {
      place.makeDir(`work/${name}`);
      const command = ['/bin/sh', '-c', script, 'sh', name];
      const { summary } = await runForSummary({ place, flags: [...CODING, ...flags], command });
      return summary.refusals.map(({ path, allowWith }) => [
        path.slice(place.work.length),
        allowWith,
      ]);
    };
    const final = [
      ['/sub.git', null],
      ['/none', null],
    ];
    expect(await run('one', [])).toEqual([
      ['/.husky', '--allow-write ./.husky'],
      ['/a\nb/.envrc', String.raw`--allow-write $'./a\x0ab/.envrc'`],
      ['/sub.git', null],
      ['/.git/config', '--allow-write ./.git/config'],
      ['/none', null],
    ]);
    const named = ['./.husky', './a\nb/.envrc', './.git/config'];
    const flags = named.flatMap((name) => ['--allow-write', name]);
    expect(await run('two', flags)).toEqual(final);
  });

  it('lets the run add a submodule to a repository that it made', async () => {
    const place = makeRepository();
    const script = `set -e
git init -q lib; cd lib; echo x > x; git add x; git commit -qm x; cd ..
git init -q app; cd app; git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm sub; git submodule status | wc -l`;
    const outcome = await runScript(place, script, { flags: FLAGS, env: IDENTITY });
    expect(outcome).toMatchObject({ code: 0, stdout: '1\n' });
  });

  it('of a new repository that names a program is set aside and reported', async () => {
    const place = makePlace();
    const script = `git init -q evil; git -C evil config core.fsmonitor /bin/false; git init -q fine; git init -q alias; git -C alias config alias.st '!sh'`;
    const { outcome, summary } = await runForSummary({
      place,
      flags: CODING,
      command: ['/bin/sh', '-c', script],
    });
    expect(outcome.code).toBe(0);
    expect(outcome.stderr).toContain('core.fsmonitor');
    expect(summary.setAside.map(({ path }) => path).toSorted()).toEqual([
      place.at('work/alias/.git/config'),
      place.at('work/evil/.git/config'),
    ]);
    expect(place.has('work/evil/.git/config')).toBe(false);
    expect(place.has('work/fine/.git/config')).toBe(true);
  });

  it('of a new repository is set aside also when the run itself was killed', async () => {
    const place = makePlace();
    const script = `git init -q evil; git -C evil config core.fsmonitor /bin/false; kill -9 $$`;
    const { code } = await runScript(place, script, { flags: CODING });
    expect(code).toBe(137);
    expect(place.has('work/evil/.git/config')).toBe(false);
    await runScript(
      place,
      `git init -q late; git -C late config core.fsmonitor /bin/false; sleep 30`,
      { flags: [...CODING, '--timeout', '1s'] },
    );
    expect(place.has('work/late/.git/config')).toBe(false);
  });

  it('that the policy names may be written, and nothing else for that', async () => {
    const place = makeRepository();
    const script = `mkdir -p .vscode .idea; echo x > .vscode/settings.json && echo vscode; echo x > .idea/x && echo idea; echo x > .npmrc && echo npmrc; exit 0`;
    const byFlag = await runScript(place, script, {
      flags: [...CODING, '--allow-write', './.vscode'],
    });
    expect(byFlag.stdout).toBe('vscode\n');
    const file = place.write(
      'policy.yaml',
      'api_version: assay/v1\nextends: [coding-agent]\nfs:\n  write: ["${CWD}/.npmrc"]\n',
    );
    const byPolicy = await runScript(place, script, { flags: ['--policy', file] });
    expect(byPolicy.stdout).toBe('npmrc\n');
  });

  it('of git that the policy names may be written and stays, as the hint says, and nothing else for that', async () => {
    const place = makeRepository();
    const script = `git config core.fsmonitor false; mkdir -p .git/hooks
for name in pre-commit pre-push; do echo x > .git/hooks/$name; done; exit 0`;
    const flags = ['.git/config', '.git/hooks/pre-commit'].map((name) => `--allow-write ./${name}`);
    const command = ['/bin/sh', '-c', script];
    const refused = await runAssay({ place, flags: [...CODING, '--json', 'fd:2'], command });
    for (const flag of flags) expect(refused.stderr).toContain(flag);
    const words = flags.flatMap((flag) => flag.split(' '));
    await runAssay({ place, flags: [...CODING, ...words], command });
    expect(place.read('work/.git/config')).toContain('fsmonitor = false');
    expect(place.has('work/.git/hooks/pre-commit')).toBe(true);
    expect(place.has('work/.git/hooks/pre-push')).toBe(false);
  });

  it('in the private tmp is not protected', async () => {
    const script = `cd /tmp && mkdir .vscode && echo x > .vscode/settings.json && echo x > .bashrc && git init -q r && echo x > r/.git/config && mkdir -p r/.git/hooks && echo x > r/.git/hooks/pre-commit && echo fine`;
    expect(await runScript(makePlace(), script, { flags: CODING })).toMatchObject({
      code: 0,
      stdout: 'fine\n',
    });
  });

  it('that was refused is named at the end, with the flag and the line that would allow it', async () => {
    const { stderr } = await runAssay({
      place: makePlace(),
      flags: CODING,
      command: ['/bin/sh', '-c', 'echo x > .npmrc; exit 0'],
    });
    expect(stderr).toMatch(/refused: write \$\{CWD\}\/\.npmrc/);
    expect(stderr).toContain('--allow-write ./.npmrc');
    expect(stderr).toContain('fs: { write: ["${CWD}/.npmrc"] }');
  });
});
