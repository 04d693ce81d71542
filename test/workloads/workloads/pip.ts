import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { IS_FULL, type Workload, writeTree } from '../workload.ts';
import { makeZip } from '../zip.ts';

/** A pip of its own makes the environment twenty times as large. */
const MAKE = IS_FULL
  ? ['python3 -m venv env', 'env/bin/pip']
  : ['python3 -m venv --without-pip env', 'python3 -m pip --python env/bin/python'];

const SCRIPT = `set -e
${MAKE[0]}
${MAKE[1]} install -q --no-index --disable-pip-version-check --no-cache-dir ./greet-1.0-py3-none-any.whl
env/bin/greet
`;

const FILES: Readonly<Record<string, string>> = {
  'greet/__init__.py': 'NAME = "greet"\n',
  'greet/main.py': 'from greet import NAME\n\ndef run():\n    print("hello from", NAME)\n',
  'greet-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n',
  'greet-1.0.dist-info/WHEEL':
    'Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  'greet-1.0.dist-info/entry_points.txt': '[console_scripts]\ngreet = greet.main:run\n',
};

function makeWheel(): Buffer {
  const lines = Object.entries(FILES).map(([path, text]) => {
    const digest = createHash('sha256').update(text).digest('base64url');
    return `${path},sha256=${digest},${text.length}`;
  });
  const record = 'greet-1.0.dist-info/RECORD';
  return makeZip({ ...FILES, [record]: `${[...lines, `${record},,`].join('\n')}\n` });
}

export const pipWorkload: Workload = {
  name: 'a python venv and pip from a local wheel',
  tools: ['python3'],
  install() {
    const { status } = spawnSync('/usr/bin/python3', ['-c', 'import ensurepip, pip']);
    return status === 0 ? undefined : 'python3-venv or python3-pip is not installed';
  },
  command: ['/bin/sh', 'work.sh'],
  prepare(dir) {
    writeTree(dir, { 'work.sh': SCRIPT });
    writeFileSync(join(dir, 'greet-1.0-py3-none-any.whl'), makeWheel());
  },
};
