import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { type Workload, writeTree } from '../workload.ts';

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];

const SCRIPT = `set -e
export npm_config_cache="$PWD/.cache" npm_config_offline=true npm_config_audit=false npm_config_fund=false
export npm_config_update_notifier=false npm_config_userconfig=/dev/null
npm ci --loglevel=error
npm run --silent hello
`;

/** Packs a package as npm would, but with the same bytes each time; returns its digest. */
function pack(dir: string, name: string): string {
  const root = join(dir, 'packing');
  writeTree(join(root, 'package'), {
    'package.json': JSON.stringify({
      name,
      version: '1.0.0',
      main: 'index.js',
      bin: { [name]: 'bin.js' },
    }),
    'index.js': `exports.name = ${JSON.stringify(name)};\n`,
    'bin.js': `#!/usr/bin/env node\nconsole.log('hello from', require('.').name);\n`,
    'lib/one.js': 'exports.one = 1;\n'.repeat(20),
    'lib/two.js': 'exports.two = 2;\n'.repeat(30),
    'README.md': `# ${name}\n`,
  });
  const tarball = join(dir, 'vendor', `${name}-1.0.0.tgz`);
  writeTree(dir, { [`vendor/${name}-1.0.0.tgz`]: '' });
  const fixed = ['--sort=name', '--mtime=@500000000', '--owner=0', '--group=0', '--numeric-owner'];
  const packed = execFileSync('tar', [...fixed, '-cf', '-', '-C', root, 'package']);
  execFileSync('/bin/sh', ['-c', 'gzip -n > "$1"', 'sh', tarball], { input: packed });
  rmSync(root, { recursive: true });
  return `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
}

export const npmWorkload: Workload = {
  name: 'npm ci from local tarballs',
  tools: ['npm', 'node', 'tar', 'gzip'],
  command: ['/bin/sh', 'work.sh'],
  prepare(dir) {
    const dependencies = Object.fromEntries(
      NAMES.map((name) => [name, `file:vendor/${name}-1.0.0.tgz`]),
    );
    const manifest = { name: 'app', version: '1.0.0', dependencies };
    const packages = NAMES.map((name) => [
      `node_modules/${name}`,
      {
        version: '1.0.0',
        resolved: `file:vendor/${name}-1.0.0.tgz`,
        integrity: pack(dir, name),
        bin: { [name]: 'bin.js' },
      },
    ]);
    writeTree(dir, {
      'work.sh': SCRIPT,
      'package.json': JSON.stringify({ ...manifest, scripts: { hello: 'alpha && beta' } }),
      'package-lock.json': JSON.stringify({
        name: 'app',
        version: '1.0.0',
        lockfileVersion: 3,
        requires: true,
        packages: { '': manifest, ...Object.fromEntries(packages) },
      }),
    });
  },
};
