import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setAsideGitPrograms } from '../../src/launch/git-aftermath.ts';

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

  it('moves a dangerous configuration away and leaves a harmless one', () => {
    const evil = makeGitDir('evil');
    const good = makeGitDir('good');
    write(evil, 'config', EVIL);
    write(good, 'config', '[core]\n\tbare = true\n');
    const found = setAsideGitPrograms(
      [evil, good].map((path) => ({ path, isBorn: true })),
      0,
    );
    expect(found.map(({ because }) => because)).toEqual(['core.fsmonitor']);
    expect(readdirSync(evil)).toContainEqual(
      expect.stringMatching(/^config\.assay-set-aside-[0-9a-f]{12}$/),
    );
    expect(readdirSync(evil)).not.toContain('config');
    expect(readdirSync(good)).toContain('config');
  });

  it('leaves alone what is called like a configuration, where there is no repository', () => {
    const dir = Buffer.from(`${base}/package`);
    mkdirSync(dir);
    mkdirSync(`${base}/package/config`);
    expect(setAsideGitPrograms([{ path: dir, isBorn: true }], 0)).toEqual([]);
    expect(readdirSync(dir)).toEqual(['config']);
  });

  it('takes a common directory without HEAD for one, but leaves what git would not run there', () => {
    const dir = Buffer.from(`${base}/src`);
    for (const name of ['objects', 'refs', 'hooks/state', 'config.worktree'])
      mkdirSync(`${base}/src/${name}`, { recursive: true });
    for (const name of ['hooks/use-state.ts', 'hooks/pre-commit', 'config']) write(dir, name, EVIL);
    const found = setAsideGitPrograms([{ path: dir, isBorn: true }], 0);
    expect(found.map(({ because }) => because)).toEqual(['core.fsmonitor', 'git hook']);
    expect(readdirSync(dir)).toContain('config.worktree');
    expect(readdirSync(`${base}/src/hooks`)).toEqual(
      expect.arrayContaining(['state', 'use-state.ts']),
    );
  });

  it('goes by bytes, so that a name that is not UTF-8 is no way around', () => {
    const dir = makeGitDir(Buffer.from([0x74, 0xff]));
    write(dir, 'config', EVIL);
    expect(setAsideGitPrograms([{ path: dir, isBorn: false }], 0)).toHaveLength(1);
    expect(readdirSync(dir)).not.toContain('config');
  });

  it('takes every hook of a directory that became a git directory in the run, however old', () => {
    const dir = makeGitDir('app');
    mkdirSync(join(dir.toString(), 'hooks'));
    write(dir, 'hooks/pre-commit', '#!/bin/sh\n');
    utimesSync(join(dir.toString(), 'hooks/pre-commit'), 1, 1);
    const later = Date.now() + 60_000;
    expect(setAsideGitPrograms([{ path: dir, isBorn: false }], later)).toEqual([]);
    expect(setAsideGitPrograms([{ path: dir, isBorn: true }], later)).toHaveLength(1);
  });

  it('goes on with the others when one cannot be looked at', () => {
    const odd = makeGitDir('odd');
    mkdirSync(join(odd.toString(), 'config'));
    const evil = makeGitDir('evil');
    write(evil, 'config', EVIL);
    const found = setAsideGitPrograms(
      [odd, evil].map((path) => ({ path, isBorn: true })),
      0,
    );
    expect(found.map(({ because }) => because)).toEqual(['not a plain file', 'core.fsmonitor']);
  });
});
