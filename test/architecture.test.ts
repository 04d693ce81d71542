import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');

/** A file imports from its own folder or from folders before its own in this list. */
const FOLDERS = [
  'core',
  'host',
  'policy',
  'plan',
  'egress',
  'launch',
  'observe',
  'evidence',
  'artifacts',
  'approvals',
  'backends',
  'tool',
  'harness',
  'serve',
  'library',
  'cli',
];

/** No file system, no clock, no process, no chance: what they decide depends on their arguments alone. */
const PURE_FOLDERS = ['policy', 'plan', 'observe', 'evidence'];
const PURE_MODULES = ['node:path', 'node:path/posix'];
const IMPURE = /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\./;

/** Only the command line touches these. */
const CONSOLE = /\bprocess\.(argv|exit|exitCode|stdout)\b|\bprocess\.stderr\.write\b|\bconsole\./;

/** What starts programs or makes code out of text. */
const STARTERS = /'(?:node:)?(?:child_process|worker_threads|cluster|vm|wasi|inspector)(?:\/\w+)?'/;
const CODE_MAKERS =
  /(?<![.\w])(?:eval|Function)\s*\(|\bnew\s+(?:Function|WebAssembly)\b|\bprocess\.binding\b/;
/** Where code of others is run. Everything else goes through these. */
const RUNNERS = ['launch', 'backends'];
/** Programs of the host or of the person, none of which runs what an agent has written. */
const STARTER_EXCEPTIONS: Readonly<Record<string, string>> = {
  'cli/browser.ts': 'opens a page in the browser',
  'egress/inject/value-command.ts': 'asks a command of the policy for the value of a header',
  'host/probe-facts.ts': 'has the helper try what the kernel offers',
  'host/registries.ts': 'asks package managers for their registry',
};

const MAX_LINES = 350;

interface SourceFile {
  /** From src/, such as `plan/view.ts`. */
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** The text without comments. */
  readonly bare: string;
  /** The text without comments and without what is quoted. */
  readonly code: string;
  readonly imports: readonly string[];
}

function stripComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(SRC, path), 'utf8');
  const bare = stripComments(text);
  const imports = Array.from(
    bare.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g),
    (found) => found[1] ?? '',
  );
  return {
    path,
    folder: path.split('/')[0] ?? '',
    text,
    bare,
    code: bare.replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''"),
    imports,
  };
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map(readSource);

/** Names of the files of which `isWrong` holds, so that a failure lists them. */
function filesWhere(isWrong: (file: SourceFile) => boolean): string[] {
  return FILES.filter(isWrong).map(({ path }) => path);
}

function folderOfImport(file: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return relative(SRC, join(SRC, dirname(file.path), specifier)).split('/')[0];
}

describe('the source tree', () => {
  it('is found at all', () => {
    expect(FILES.length).toBeGreaterThan(50);
    expect(FILES.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
  });

  it('has only the folders of the design', () => {
    expect(filesWhere(({ folder }) => !FOLDERS.includes(folder))).toEqual([]);
  });

  it('imports only from its own folder or an earlier one', () => {
    const wrong = FILES.flatMap((file) =>
      file.imports
        .map((specifier) => ({ specifier, folder: folderOfImport(file, specifier) }))
        .filter(
          ({ folder }) =>
            folder !== undefined && FOLDERS.indexOf(folder) > FOLDERS.indexOf(file.folder),
        )
        .map(({ specifier }) => `${file.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('names the file type in every import of its own', () => {
    const wrong = FILES.flatMap((file) =>
      file.imports
        .filter((specifier) => specifier.startsWith('.') && !specifier.endsWith('.ts'))
        .map((specifier) => `${file.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(PURE_FOLDERS)('keeps %s pure', (pure) => {
    const wrong = FILES.filter(({ folder }) => folder === pure).flatMap((file) => [
      ...file.imports
        .filter((name) => name.startsWith('node:') && !PURE_MODULES.includes(name))
        .map((name) => `${file.path} imports ${name}`),
      ...(IMPURE.test(file.code) ? [`${file.path} uses ${IMPURE.exec(file.code)?.[0]}`] : []),
    ]);
    expect(wrong).toEqual([]);
  });

  it('touches argv, exit and the console in cli only', () => {
    expect(filesWhere(({ folder, code }) => folder !== 'cli' && CONSOLE.test(code))).toEqual([]);
  });

  it('uses nothing that lies below the modules of node', () => {
    const BELOW = /\bprocess(?:\.binding|\['binding'\]|\.reallyExit)|\bbinding\.call\(/;
    expect(filesWhere(({ code }) => BELOW.test(code))).toEqual([]);
  });

  it('starts programs, threads and virtual machines in launch and backends only', () => {
    const starters = filesWhere(
      ({ folder, bare }) => !RUNNERS.includes(folder) && STARTERS.test(bare),
    );
    // Exactly these: an exception that is no longer needed goes.
    expect(starters.toSorted()).toEqual(Object.keys(STARTER_EXCEPTIONS).toSorted());
  });

  it('makes no code out of text but in backends', () => {
    expect(
      filesWhere(({ folder, code }) => folder !== 'backends' && CODE_MAKERS.test(code)),
    ).toEqual([]);
  });

  it.each([
    "import { spawn } from 'node:child_process'",
    "process.getBuiltinModule('node:worker_threads')",
    "await import('vm')",
  ])('would notice %s', (line) => {
    expect(STARTERS.test(stripComments(line))).toBe(true);
  });

  it.each(['eval(text)', 'new Function("x")', "Function('return 1')()"])(
    'would notice %s',
    (line) => {
      expect(CODE_MAKERS.test(line)).toBe(true);
    },
  );

  it('has no state at module level', () => {
    expect(filesWhere(({ code }) => /^(?:export )?(?:let|var)\s/m.test(code))).toEqual([]);
  });

  it('has no default export and no enum', () => {
    expect(
      filesWhere(({ code }) => /\bexport default\b|^\s*(?:export )?(?:const )?enum\s/m.test(code)),
    ).toEqual([]);
  });

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    expect(filesWhere(({ text }) => text.split('\n').length - 1 > MAX_LINES)).toEqual([]);
  });

  it('has kebab-case file names and no drawer for odds and ends', () => {
    const isWrong = (path: string): boolean =>
      !/^[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(path.split('/').at(-1) ?? '') ||
      /\b(?:utils?|helpers|common|manager|misc)\.ts$/.test(path);
    expect(filesWhere(({ path }) => isWrong(path))).toEqual([]);
  });
});
