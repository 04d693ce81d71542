import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPTS = join(import.meta.dirname, '../../scripts');

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'assay-engines-'))));
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `#!/bin/sh\n${text}\n`);
  chmodSync(join(root, path), 0o755);
}

it('npm run engines makes what there is for arm64, and says that the guest is for x86-64', () => {
  mkdirSync(join(root, 'scripts/engines'), { recursive: true });
  for (const name of ['engines.sh', 'engines/microvm.sh'])
    copyFileSync(join(SCRIPTS, name), join(root, 'scripts', name));
  // Nothing is installed or fetched: every package is there, and the image is made.
  write('scripts/engines/image.sh', 'echo "the image is up to date"');
  const needed = readFileSync(join(SCRIPTS, 'engines.sh'), 'utf8').matchAll(/\bneed (\S+) \S+/g);
  for (const [, program = ''] of needed) write(`bin/${program}`, 'exit 1');
  write('bin/uname', 'echo aarch64');
  const { status, stdout, stderr } = spawnSync(join(root, 'scripts/engines.sh'), {
    encoding: 'utf8',
    env: {
      PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
      HOME: root,
      ASSAY_ENGINES_DIR: join(root, 'made'),
    },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('the image is up to date');
  expect(stdout).toContain('it is for x86-64 only');
});
