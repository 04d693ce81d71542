// Generated projects to work on: the same every time.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GIT = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0'];

/** 300 modules that import each other, with types that take some checking. */
export function makeTypeScriptProject(dir, count = 300) {
  mkdirSync(join(dir, 'src'), { recursive: true });
  for (let i = 0; i < count; i++) {
    const imports = [i - 1, i - 7, i - 31].filter((n) => n >= 0);
    const shape = Array.from(
      { length: 40 },
      (_, n) => `  field${n}: ${['string', 'number', 'boolean[]', `Shape${i}['field0']`][n % 4]};`,
    );
    writeFileSync(
      join(dir, `src/module${i}.ts`),
      [
        ...imports.map((n) => `import { transform${n}, type Shape${n} } from './module${n}.ts';`),
        `export interface Shape${i} {\n${shape.join('\n')}\n}`,
        `type Keys${i} = { [K in keyof Shape${i} as \`get\${Capitalize<K>}\`]: () => Shape${i}[K] };`,
        `export function transform${i}(input: Partial<Shape${i}>, getters: Keys${i}): Shape${i} {`,
        `  const result = { ...input, field0: getters.getField0() } as Shape${i};`,
        ...imports.map(
          (n) =>
            `  const other${n} = transform${n}(input as Partial<Shape${n}>, getters as never);\n  if (other${n}.field1 > 3) result.field1 += other${n}.field1;`,
        ),
        '  return result;\n}',
      ].join('\n'),
    );
  }
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        module: 'nodenext',
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: [],
      },
      include: ['src'],
    }),
  );
}

/** Many small files in directories of a hundred. */
export function makeManyFiles(dir, count = 20_000, sizeBytes = 200) {
  for (let i = 0; i < count; i++) {
    const folder = join(dir, `d${Math.floor(i / 1000)}`, `e${Math.floor(i / 100) % 10}`);
    if (i % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `f${i}.txt`), `file ${i}\n`.repeat(Math.ceil(sizeBytes / 10)));
  }
}

export function makeGitRepository(dir, count = 2000) {
  makeManyFiles(dir, count);
  const git = (...args) => execFileSync('git', [...GIT, ...args], { cwd: dir, stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'all');
}

export function makeCProject(dir, count = 60) {
  mkdirSync(dir, { recursive: true });
  for (let i = 0; i < count; i++)
    writeFileSync(
      join(dir, `part${i}.c`),
      `#include <stdio.h>\n#include <stdlib.h>\nint part${i}(int n) { printf("%d", n); return n * ${i}; }\n`,
    );
  const objects = Array.from({ length: count }, (_, i) => `part${i}.o`).join(' ');
  writeFileSync(
    join(dir, 'Makefile'),
    `all: ${objects}\n%.o: %.c\n\tcc -O1 -c $< -o $@\nclean:\n\trm -f *.o\n`,
  );
}

/** What an installer of packages does: unpack many small files, then remove them. */
export function makeArchive(dir, count = 3000) {
  makeManyFiles(join(dir, 'tree'), count);
  execFileSync('tar', ['-cf', 'packages.tar', 'tree'], { cwd: dir });
  execFileSync('rm', ['-rf', 'tree'], { cwd: dir });
}

function makeTarball(dir, name, fileCount) {
  const stage = join(dir, 'stage');
  const tarball = `tarballs/${name}-1.0.0.tgz`;
  mkdirSync(join(stage, 'package/lib'), { recursive: true });
  writeFileSync(
    join(stage, 'package/package.json'),
    JSON.stringify({ name, version: '1.0.0', main: 'lib/f0.js' }),
  );
  for (let i = 0; i < fileCount; i++)
    writeFileSync(join(stage, `package/lib/f${i}.js`), `exports.value = ${i};\n`.repeat(40));
  execFileSync('tar', ['-czf', join(dir, tarball), '-C', stage, 'package']);
  rmSync(stage, { recursive: true });
  return tarball;
}

/** A project whose packages all lie beside it, so that `npm ci` in a copy of it needs no registry. */
export function makeNpmProject(dir, count = 100, fileCount = 40) {
  const dependencies = {};
  const packages = {};
  for (const folder of ['tarballs', 'project']) mkdirSync(join(dir, folder), { recursive: true });
  for (let i = 0; i < count; i++) {
    const name = `part${i}`;
    const tarball = makeTarball(dir, name, fileCount);
    const digest = createHash('sha512').update(readFileSync(join(dir, tarball)));
    dependencies[name] = `file:../${tarball}`;
    packages[`node_modules/${name}`] = {
      version: '1.0.0',
      resolved: `file:../${tarball}`,
      integrity: `sha512-${digest.digest('base64')}`,
    };
  }
  const project = { name: 'project', version: '1.0.0' };
  const root = { ...project, dependencies };
  writeFileSync(join(dir, 'project/package.json'), JSON.stringify(root));
  writeFileSync(
    join(dir, 'project/package-lock.json'),
    JSON.stringify({
      ...project,
      lockfileVersion: 3,
      requires: true,
      packages: { '': root, ...packages },
    }),
  );
}
