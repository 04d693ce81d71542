import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { count, MODULES, type Workload, writeTree } from '../workload.ts';

export const vitestWorkload: Workload = {
  name: 'vitest on a small project',
  tools: ['node'],
  grants: { exec: [MODULES] },
  command: ['node', join(MODULES, 'vitest/vitest.mjs'), 'run', '--pool=forks', '--maxWorkers=2'],
  prepare(dir) {
    writeTree(dir, {
      'package.json': JSON.stringify({ name: 'app', type: 'module', private: true }),
      'src/sum.js': 'export const sum = (a, b) => a + b;\n',
    });
    for (const n of count(4)) {
      writeTree(dir, {
        [`test/sum-${n}.test.js`]: `import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sum } from '../src/sum.js';
it('adds ${n}', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sum-'));
  writeFileSync(join(dir, 'result'), String(sum(1, ${n})));
  rmSync(dir, { recursive: true });
  expect(sum(1, ${n})).toBe(${n + 1});
});
it('agrees with what it said before', () => expect({ sum: sum(${n}, ${n}) }).toMatchSnapshot());
`,
      });
    }
    mkdirSync(join(dir, 'node_modules'));
    symlinkSync(join(MODULES, 'vitest'), join(dir, 'node_modules/vitest'));
  },
};
