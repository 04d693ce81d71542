import { describe, expect, it } from 'vitest';

import { makeHide } from '../../src/core/known-secrets.ts';
import { ShownNames, showBelow } from '../../src/observe/shown-names.ts';

const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const OTHER = 'ghp_16C7e42F292c6912E7710c838347Ae178B4b';
const KNOWN = ['correct-horse-battery', 'another-long-secret'];

const makeNames = (...given: string[]): ShownNames => new ShownNames(makeHide(KNOWN), given);

describe('shown names', () => {
  it('show most paths as they are', () => {
    const names = makeNames('/w');
    for (const path of ['/w/a', '/usr/lib/x', 'a b', '', '/']) {
      expect(names.show(path)).toBe(path);
      expect(names.find(path)).toBe(path);
    }
  });

  it('keep apart what differs in a secret only, and find the real ones', () => {
    const names = makeNames();
    const paths = [
      ...[TOKEN, OTHER].map((token) => `/w/${token}.txt`),
      ...KNOWN.map((secret) => `/w/${secret}`),
      ...['hunter2a', 'hunter2b', 'hunter2c'].map((secret) => `/w/password=${secret}`),
    ];
    const shown = paths.map((path) => names.show(path));
    expect(new Set(shown).size).toBe(paths.length);
    expect(shown.join()).not.toMatch(/ghp_|horse|another|hunter/);
    expect(shown.map((path) => names.find(path))).toEqual(paths);
    expect(paths.map((path) => names.show(path))).toEqual(shown);
  });

  it('find what lies in a directory of a hidden name, and nothing that was never seen', () => {
    const names = makeNames();
    const dir = names.show(`/w/${TOKEN}`);
    expect(names.find(`${dir}/below/it`)).toBe(`/w/${TOKEN}/below/it`);
    expect(names.find('/w/[redacted:9]')).toBeUndefined();
    expect(names.find('/w/[redacted]/below')).toBeUndefined();
  });

  it('show a directory that was given as it is, and hide what is in it', () => {
    const dir = `/srv/${TOKEN}`;
    const names = makeNames(dir);
    expect(names.show(dir)).toBe(dir);
    expect(names.show(`${dir}/a`)).toBe(`${dir}/a`);
    expect(names.show(`${dir}/${OTHER}`)).toMatch(/B4a\/\[redacted:[0-9a-f]{16}\]$/);
    expect(names.show(`${dir}-not`)).not.toContain('ghp_');
  });

  it('hide what was found below a directory', () => {
    const names = makeNames();
    const dir = names.show(`/w/${TOKEN}`);
    expect(showBelow(names, dir, 'a/b')).toBe('a/b');
    expect(showBelow(names, '/w/d', `a/${OTHER}`)).toMatch(/^a\/\[redacted:[0-9a-f]{16}\]$/);
  });

  it('keep so many and no more', () => {
    const names = makeNames();
    const shown = Array.from({ length: 10_050 }, (_, index) =>
      names.show(`/password=hunter${index}x`),
    );
    expect(new Set(shown).size).toBe(10_000);
  });
});
