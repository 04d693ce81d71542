import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type GitTraces,
  type SetAside,
  setAsideGitPrograms,
} from '../../src/launch/git-aftermath.ts';

const EVIL = '[core]\n\tfsmonitor = ./evil\n';

describe('setAsideGitPrograms()', () => {
  let base = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'aftermath-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  function makeGitDir(name: string | Buffer): Buffer {
    const path = Buffer.concat([Buffer.from(`${base}/`), Buffer.from(name)]);
    mkdirSync(path);
    write(path, 'HEAD', 'ref: refs/heads/main\n');
    mkdirSync(Buffer.concat([path, Buffer.from('/objects')]));
    return path;
  }

  function write(dir: Buffer, name: string, text: string): void {
    writeFileSync(Buffer.concat([dir, Buffer.from(`/${name}`)]), text);
  }

  function review(gitDirs: GitTraces['gitDirs'], more: Partial<GitTraces> = {}): SetAside[] {
    const traces = { gitDirs, gitFileDirs: [], cwd: base, sinceMs: 0, rules: [] };
    return setAsideGitPrograms({ ...traces, ...more });
  }

  it('moves a dangerous configuration away and leaves a harmless one', () => {
    const evil = makeGitDir('evil');
    const good = makeGitDir('good');
    write(evil, 'config', EVIL);
    write(good, 'config', '[core]\n\tbare = true\n');
    const found = review([evil, good].map((path) => ({ path, isBorn: true })));
    expect(found.map(({ because }) => because)).toEqual(['core.fsmonitor']);
    expect(readdirSync(evil)).toContainEqual(
      expect.stringMatching(/^config\.assay-set-aside-[0-9a-f]{12}$/),
    );
    expect(readdirSync(evil)).not.toContain('config');
    expect(readdirSync(good)).toContain('config');
  });

  it('leaves what the policy grants by its name, and nothing that it grants with more', () => {
    const dir = makeGitDir('old');
    write(dir, 'config', EVIL);
    mkdirSync(Buffer.concat([dir, Buffer.from('/hooks')]));
    for (const name of ['pre-commit', 'pre-push']) write(dir, `hooks/${name}`, '#!/bin/sh\n');
    const grant = (...patterns: string[]): GitTraces['rules'] => [
      { firstId: 1, effect: 'allow', ops: 3, patterns, rules: [] },
    ];
    const named = ['config', 'hooks/pre-commit'].map((name) => `${base}/old/${name}`);
    const found = review([{ path: dir, isBorn: true }], { rules: grant(...named) });
    expect(found.map(({ path }) => path)).toEqual([`${base}/old/hooks/pre-push`]);
    const rest = review([{ path: dir, isBorn: true }], { rules: grant(`${base}/old`) });
    expect(rest.map(({ path }) => path)).toEqual(named);
  });

  it('leaves alone what is called like a configuration, where there is no repository', () => {
    const dir = Buffer.from(`${base}/package`);
    mkdirSync(dir);
    mkdirSync(`${base}/package/config`);
    expect(review([{ path: dir, isBorn: true }])).toEqual([]);
    expect(readdirSync(dir)).toEqual(['config']);
  });

  it('takes a common directory without HEAD for one, but leaves what git would not run there', () => {
    const dir = Buffer.from(`${base}/src`);
    for (const name of ['objects', 'refs', 'hooks/state', 'config.worktree'])
      mkdirSync(`${base}/src/${name}`, { recursive: true });
    for (const name of ['hooks/use-state.ts', 'hooks/pre-commit', 'config']) write(dir, name, EVIL);
    const found = review([{ path: dir, isBorn: true }]);
    expect(found.map(({ because }) => because)).toEqual(['core.fsmonitor', 'git hook']);
    expect(readdirSync(dir)).toContain('config.worktree');
    expect(readdirSync(`${base}/src/hooks`)).toEqual(
      expect.arrayContaining(['state', 'use-state.ts']),
    );
  });

  it('goes by bytes, so that a name that is not UTF-8 is no way around', () => {
    const dir = makeGitDir(Buffer.from([0x74, 0xff]));
    write(dir, 'config', EVIL);
    const found = review([{ path: dir, isBorn: false }]);
    expect(found.map(({ path }) => path)).toEqual([String.raw`${base}/t\xff/config`]);
    expect(readdirSync(dir)).not.toContain('config');
  });

  it('takes every hook of a directory that became a git directory in the run, however old', () => {
    const dir = makeGitDir('app');
    mkdirSync(join(dir.toString(), 'hooks'));
    write(dir, 'hooks/pre-commit', '#!/bin/sh\n');
    utimesSync(join(dir.toString(), 'hooks/pre-commit'), 1, 1);
    const later = Date.now() + 60_000;
    expect(review([{ path: dir, isBorn: false }], { sinceMs: later })).toEqual([]);
    expect(review([{ path: dir, isBorn: true }], { sinceMs: later })).toHaveLength(1);
  });

  it('goes on with the others when one cannot be looked at', () => {
    const odd = makeGitDir('odd');
    mkdirSync(join(odd.toString(), 'config'));
    const evil = makeGitDir('evil');
    write(evil, 'config', EVIL);
    const found = review([odd, evil].map((path) => ({ path, isBorn: true })));
    expect(found.map(({ because }) => because)).toEqual(['not a plain file', 'core.fsmonitor']);
  });

  describe('what leads to another git directory', () => {
    function lead(name: string, text: string): Buffer {
      mkdirSync(`${base}/${name}`);
      writeFileSync(`${base}/${name}/.git`, text);
      return Buffer.from(`${base}/${name}`);
    }

    function makeEvil(name: string): void {
      write(makeGitDir(name), 'config', EVIL);
    }

    const reviewFiles = (gitFileDirs: Buffer[]): SetAside[] => review([], { gitFileDirs });

    it('is moved away where that names programs, however it is written, and reported once', () => {
      makeEvil('old');
      makeGitDir('good');
      symlinkSync('../..', `${base}/good/up`);
      const evil = [
        'gitdir: ../old',
        `gitdir: ${base}/old\r\n\n`,
        'gitdir: ../good/../old/.',
        `gitdir: ../good/up/${basename(base)}/old\0x`,
      ].map((text, index) => lead(`evil${index}`, text));
      const good = ['gitdir: ../good', 'gitdir: ../none', 'gitdir:../old', '', 'old'].map(
        (text, index) => lead(`good${index}`, text),
      );
      const found = reviewFiles([...evil, ...good, ...evil]);
      expect(found.map(({ path }) => path)).toEqual(evil.map((dir) => `${String(dir)}/.git`));
      expect(new Set(found.map(({ because }) => because))).toEqual(
        new Set(['it leads to core.fsmonitor']),
      );
      for (const dir of good) expect(readdirSync(dir)).toEqual(['.git']);
    });

    it('is followed where it is a link, or by way of a worktree', () => {
      makeEvil('old');
      mkdirSync(`${base}/linked`);
      symlinkSync('../old', `${base}/linked/.git`);
      mkdirSync(`${base}/worktree`);
      writeFileSync(`${base}/worktree/commondir`, '../old\n');
      const dirs = [Buffer.from(`${base}/linked`), lead('sub', 'gitdir: ../worktree\n')];
      expect(reviewFiles(dirs)).toHaveLength(2);
    });

    it('stays where it leads to a repository that git comes to by itself', () => {
      makeEvil('.git');
      mkdirSync(`${base}/.git/worktrees/a`, { recursive: true });
      writeFileSync(`${base}/.git/worktrees/a/commondir`, '../..\n');
      mkdirSync(`${base}/nested`);
      makeEvil('nested/.git');
      const dirs = [
        lead('a', `gitdir: ${base}/.git/worktrees/a\n`),
        lead('b', 'gitdir: ../nested/.git\n'),
      ];
      expect(reviewFiles(dirs)).toEqual([]);
    });

    it('knows the repository of a workspace that lies elsewhere, unless the run led there', () => {
      makeEvil('bare');
      const work = lead('work', `gitdir: ${base}/bare\n`);
      const sub = lead('work/sub', `gitdir: ${base}/bare\n`);
      const cwd = work.toString();
      expect(review([], { cwd, gitFileDirs: [sub] })).toEqual([]);
      expect(review([], { cwd, gitFileDirs: [sub, work] })).toHaveLength(2);
    });
  });
});
