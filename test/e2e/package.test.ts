import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const IS_ROOT = process.getuid?.() === 0;
const SOMEBODY = 54_322;

/** The files of a tarball of `npm pack`, as they come to lie where it is installed. */
function unpack(into: string): string {
  const { stdout, stderr, status } = spawnSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', into],
    { cwd: ROOT, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const folder = join(into, 'installed');
  fs.mkdirSync(folder);
  spawnSync('tar', ['-xzf', join(into, filename), '-C', folder]);
  return join(folder, 'package');
}

function listFiles(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

// Most of it builds the helper, on a machine that is busy with other tests.
describe('what npm pack makes', { timeout: 300_000 }, () => {
  let place = '';
  let installed = '';
  beforeAll(() => {
    // Not below /tmp, which is private inside.
    place = fs.mkdtempSync(join(IS_ROOT ? '/var/lib' : tmpdir(), 'assay-package-'));
    fs.chmodSync(place, 0o755);
    installed = unpack(place);
  });
  afterAll(() => fs.rmSync(place, { recursive: true, force: true }));

  function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, uid = process.getuid?.()) {
    const home = join(place, `home-${uid}`);
    fs.mkdirSync(home, { recursive: true });
    if (IS_ROOT) fs.chownSync(home, uid ?? 0, uid ?? 0);
    return spawnSync(process.execPath, [join(installed, 'bin/assay.js'), ...args], {
      cwd: home,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home, ...env },
      ...(IS_ROOT && { uid, gid: uid }),
    });
  }

  it('names no path of the machine that built it, and holds nothing that was compiled there', () => {
    const files = listFiles(installed);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((path) => fs.readFileSync(path).includes(ROOT))).toEqual([]);
    const launcher = fs.readFileSync(join(installed, 'bin/assay.js'), 'utf8');
    expect(launcher).toMatch(/^#!\/usr\/bin\/env -S [^/]* node$/m);
    const compiled = files.filter((path) => fs.readFileSync(path).subarray(1, 4).includes('ELF'));
    expect(compiled).toEqual([]);
  });

  it('brings no package that runs a script when it is installed, and few at all', () => {
    const { dependencies, optionalDependencies, scripts } = JSON.parse(
      fs.readFileSync(join(installed, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string> | undefined>;
    expect(dependencies).toBeUndefined();
    expect(Object.keys(optionalDependencies ?? {})).toHaveLength(2);
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(scripts?.[name]).toBeUndefined();
    const { packages } = JSON.parse(fs.readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
    };
    const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
    expect(shipped.length).toBeLessThan(4);
    expect(shipped.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  });

  it('says what to install where there is no compiler', () => {
    const tools = join(place, 'tools');
    fs.mkdirSync(tools);
    fs.symlinkSync('/bin/sh', join(tools, 'sh'));
    const { status, stderr } = run(['sandbox', '--', 'true'], { PATH: tools });
    expect(status).toBe(3);
    expect(stderr).toContain('apt-get install gcc');
    expect(stderr).toContain('E_HELPER_MISSING');
  });

  it.skipIf(!IS_ROOT)('builds its helper for a user who cannot write where it lies', () => {
    const asOther = (...args: string[]) => run(args, {}, SOMEBODY);
    expect(asOther('sandbox', '--', 'echo', 'inside')).toMatchObject({
      status: 0,
      stdout: 'inside\n',
    });
    expect(fs.existsSync(join(installed, 'dist/assay-helper'))).toBe(false);
    const cache = join(place, `home-${SOMEBODY}`, '.cache/assay');
    const [built = ''] = fs.readdirSync(cache);
    const helper = join(cache, built, 'assay-helper');
    const madeMs = fs.statSync(helper).mtimeMs;
    expect(asOther('sandbox', '--', 'echo', 'again').stdout).toBe('again\n');
    expect(fs.statSync(helper).mtimeMs).toBe(madeMs);
    // What runs inside cannot put another in its place, whatever it may write.
    const attack = `cd "$HOME" || exit; echo x > .cache/assay/${built}/assay-helper; mkdir .cache/assay/built-0
      mv .cache/assay .cache/x && cp -r .cache/x .cache/assay; mv .cache y && cp -r y .cache
      echo x > .cache/assay/${built}/assay-helper; cp /bin/true .cache/assay/${built}/code-${process.version}/assay.cjs`;
    const attacked = asOther(
      'sandbox',
      '--allow-write',
      '~/.cache',
      '--allow-write',
      '~',
      '--',
      'sh',
      '-c',
      attack,
    );
    expect(attacked.stderr).toContain('refused');
    expect(fs.readdirSync(cache)).toEqual([built]);
    expect(fs.statSync(helper).mtimeMs).toBe(madeMs);
    expect(asOther('sandbox', '--', 'echo', 'whole')).toMatchObject({
      status: 0,
      stdout: 'whole\n',
    });
  });

  it('does not run what others could have put there', () => {
    const uid = IS_ROOT ? SOMEBODY : process.getuid?.();
    const home = join(place, `home-${uid}`);
    const id = fs.readFileSync(join(installed, 'dist/build-id'), 'utf8');
    const built = join(place, 'planted/assay', `built-${id}`);
    fs.mkdirSync(built, { recursive: true });
    fs.writeFileSync(join(built, 'assay-helper'), `#!/bin/sh\ntouch ${home}/pwned\n`, {
      mode: 0o755,
    });
    fs.chmodSync(built, 0o777);
    if (IS_ROOT) fs.chownSync(built, SOMEBODY, SOMEBODY);
    fs.chmodSync(join(installed, 'dist'), 0o555);
    const env = { XDG_CACHE_HOME: join(place, 'planted') };
    const { status, stderr } = run(['sandbox', '--', 'true'], env, uid);
    fs.chmodSync(join(installed, 'dist'), 0o755);
    expect(stderr).toContain('Others may write');
    expect(status).toBe(3);
    expect(fs.existsSync(join(home, 'pwned'))).toBe(false);
  });

  it('builds its helper beside itself where that is the user’s own', () => {
    expect(run(['sandbox', '--', 'echo', 'inside'])).toMatchObject({
      status: 0,
      stdout: 'inside\n',
    });
    expect(fs.existsSync(join(installed, 'dist/assay-helper'))).toBe(true);
    expect(fs.readdirSync(join(installed, 'dist', `code-${process.version}`))).toContain(
      'assay.cjs',
    );
  });
});
