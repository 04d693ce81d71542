import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** On a machine that is busy with other tests. */
const BUILDING_MS = 300_000;

/** Somebody's clone, below a directory that others cannot enter, in which the packages are installed and nothing is built. */
describe('npm start', () => {
  let home = '';
  let clone = '';
  beforeAll(() => {
    home = fs.mkdtempSync(join(tmpdir(), 'assay-start-'));
    clone = join(home, 'clone');
    const parts = [
      'bin',
      'native',
      'package.json',
      'package-lock.json',
      'schemas',
      'scripts',
      'src',
    ];
    const configs = fs.readdirSync(ROOT).filter((name) => name.startsWith('tsconfig'));
    for (const name of [...parts, ...configs])
      fs.cpSync(join(ROOT, name), join(clone, name), { recursive: true });
    fs.symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  });
  afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

  function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    return spawnSync(process.execPath, [join(clone, 'scripts/start.mjs'), ...args], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...process.env, INIT_CWD: home, ...env },
    });
  }

  it('says what to install where there is no compiler', () => {
    const { status, stderr } = start([], { PATH: dirname(process.execPath).replace(/.*/, home) });
    expect(status).toBe(1);
    expect(stderr).toContain('apt-get install gcc');
  });

  it(
    'builds, and shows a program whose work is done and whose four attempts are refused',
    { timeout: BUILDING_MS },
    () => {
      const { status, stdout, stderr } = start([]);
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain('Building assay.');
      expect(stdout.match(/ done$/gm)).toHaveLength(2);
      expect(stdout.match(/ refused \(E[A-Z]+\)$/gm)).toHaveLength(4);
      expect(stdout).toContain('4 attempts were refused');
      const page = /as a page: +(\/.*)$/m.exec(stdout)?.[1] ?? '';
      expect(fs.readFileSync(page, 'utf8')).toContain('<!doctype html>');
    },
  );

  it('builds once, and passes on what is asked for', () => {
    const asked = start(['sandbox', '-q', '--', 'sh', '-c', 'pwd; exit 7']);
    expect(asked).toMatchObject({ status: 7, stdout: `${home}\n` });
  });
});
