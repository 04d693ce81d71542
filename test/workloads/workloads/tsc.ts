import { join } from 'node:path';

import { count, MODULES, type Workload, writeTree } from '../workload.ts';

export const tscWorkload: Workload = {
  name: 'tsc on sixty files',
  tools: ['node'],
  grants: { exec: [MODULES] },
  command: ['node', join(MODULES, 'typescript/bin/tsc'), '-p', 'tsconfig.json'],
  prepare(dir) {
    const compilerOptions = {
      outDir: 'out',
      rootDir: 'src',
      declaration: true,
      sourceMap: true,
      incremental: true,
      tsBuildInfoFile: 'out/.tsbuildinfo',
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      types: [],
    };
    writeTree(dir, { 'tsconfig.json': JSON.stringify({ compilerOptions, include: ['src'] }) });
    for (const n of count(60)) {
      const before = n > 1 ? `import { value${n - 1} } from './part-${n - 1}.js';\n` : '';
      const sum = n > 1 ? `value${n - 1} + ${n}` : '1';
      writeTree(dir, {
        [`src/part-${n}.ts`]: `${before}export interface Part${n} { readonly size: number }
export const value${n}: number = ${sum};
export function make${n}(size: number): Part${n} { return { size: size + value${n} }; }
`,
      });
    }
  },
};
