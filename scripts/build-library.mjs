// Builds what `import 'assay'` loads, and its types, into dist/.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * What `import 'assay'` loads: CommonJS, of which there is one copy whoever asks for it, and a module that names what is
 * in it; and their types.
 */
export async function writeLibrary(dist) {
  const { build } = await import('rolldown');
  const out = join(dist, 'library');
  await build({
    cwd: root,
    input: { index: 'src/library/index.ts' },
    platform: 'node',
    external: /^node:/,
    logLevel: 'warn',
    output: {
      dir: out,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
    },
  });
  const names = Object.keys(createRequire(out)(join(out, 'index.cjs')));
  writeFileSync(
    join(dist, 'index.mjs'),
    `import library from './library/index.cjs';\nexport const { ${names.join(', ')} } = library;\n`,
  );
  writeTypes(dist, out);
}

/** The types of what is exported, and of what these name, and no others. */
function writeTypes(dist, out) {
  const compiler = join(root, 'node_modules/.bin/tsc');
  const all = join(dist, 'types');
  const args = ['-p', join(root, 'tsconfig.library.json'), '--outDir', all];
  const { status, stdout } = spawnSync(compiler, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot write the types of the library:\n${stdout}`);
  const needed = new Set();
  const visit = (file) => {
    if (needed.has(file)) return;
    needed.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\()'(\.[^']+)\.ts'/g,
    ))
      visit(join(dirname(file), `${path}.d.ts`));
  };
  visit(join(all, 'library/index.d.ts'));
  for (const file of needed) {
    const kept = join(out, 'types', relative(all, file));
    mkdirSync(dirname(kept), { recursive: true });
    // A reader of types looks for what an import would load.
    const text = readFileSync(file, 'utf8').replace(/'(\.[^']+)\.ts'/g, "'$1.js'");
    writeFileSync(kept, text);
  }
  rmSync(all, { recursive: true });
}
