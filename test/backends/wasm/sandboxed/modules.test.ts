import { describe, expect, it } from 'vitest';

import { useSandbox } from './programs.ts';

const some = useSandbox({ modules: ['json', 'math', 'importlib', 'zipimport', 'path', 'util'] });
const none = useSandbox({ modules: [] });

/** Every way back to a module that Python code has. */
const PYTHON_WAYS = (
  name: string,
): string => `import sys, importlib, importlib.util, importlib.machinery
def attempt(way, act):
    try:
        found = act()
        if found is not None: print('FOUND', way, found)
    except BaseException as problem:
        print('held', way, type(problem).__name__)
attempt('import', lambda: __import__('${name}'))
attempt('importlib', lambda: importlib.import_module('${name}'))
attempt('spec', lambda: importlib.util.find_spec('${name}'))
attempt('built-in', lambda: importlib.machinery.BuiltinImporter.find_spec('${name}'))
attempt('built-in module', lambda: importlib.machinery.BuiltinImporter.load_module('${name}'))
attempt('frozen', lambda: importlib.machinery.FrozenImporter.find_spec('${name}'))
for path in list(sys.path) + ['/usr/local/lib/python312.zip', '/usr/local/lib/python3.12']:
    import zipimport
    attempt('zip ' + path, lambda: zipimport.zipimporter(path).load_module('${name}'))
    attempt('file ' + path, lambda: importlib.machinery.PathFinder.find_spec('${name}', [path]))
sys.meta_path[:] = [importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter, importlib.machinery.PathFinder]
importlib.invalidate_caches(); sys.path_importer_cache.clear()
attempt('again', lambda: __import__('${name}'))
import _imp
attempt('create', lambda: _imp.create_builtin(importlib.machinery.ModuleSpec('${name}', None)))
print('named' if '${name}' in sys.builtin_module_names else 'not named')
`;

describe('a list of modules, for Python', () => {
  it('leaves those that are named, with what they need themselves', async () => {
    const { out, err } = await some.python('import json, math; print(json.dumps([math.pi]))');
    expect(out, err).toBe('[3.141592653589793]\n');
  });

  it.each(['socket', '_socket', 'sqlite3', '_sqlite3', 'random', 'select', 'pickle', 'urllib'])(
    'takes %s out of the interpreter itself',
    async (name) => {
      const { out, err } = await some.python(PYTHON_WAYS(name));
      expect(err).toBe('');
      expect(out).not.toContain('FOUND');
      expect(out).toContain('held import');
      expect(out).toMatch(/not named\n$/);
    },
  );

  it('leaves no byte of the others in the library', async () => {
    const { out, err } = await some.python(`data = open('/usr/local/lib/python312.zip', 'rb').read()
print(len(data) > 1000000, b'sqlite3' in data, b'json/decoder' in data, b'urllib' in data)`);
    expect(out, err).toBe('True False True False\n');
  });

  it('starts Python also when it is empty, and runs modules of the workspace', async () => {
    const { fs } = await none.sandbox();
    await fs.writeFile('own.py', 'VALUE = 5');
    const { out, err } = await none.python(`import own
print(own.VALUE)
try: import json
except ImportError as problem: print(problem)`);
    expect(out, err).toBe("5\nNo module named 'json'\n");
  });

  it('holds without it but for the list: all are there', async () => {
    const { out } = await useSandboxOnce(PYTHON_WAYS('sqlite3'));
    expect(out).toContain('FOUND import');
  });
});

const all = useSandbox();
const useSandboxOnce = (code: string): ReturnType<typeof all.python> => all.python(code);

/** Every way back to a module that JavaScript code has. */
const JAVASCRIPT_WAYS = `const held = [];
const attempt = async (way, act) => {
  try { const found = await act(); if (found !== undefined) console.log('FOUND', way); }
  catch (problem) { held.push(way + ': ' + problem.message); }
};
await attempt('import', () => import('fs'));
await attempt('node:', () => import('node:fs/promises'));
await attempt('require', () => require('fs'));
await attempt('symbol', () => globalThis[Symbol.for('assay.module')]('fs'));
const { includes } = Array.prototype, { hasOwn } = Object, { get } = Map.prototype;
Array.prototype.includes = () => true; Object.hasOwn = () => true; Map.prototype.get = () => undefined;
await attempt('polluted', () => require('fs'));
await attempt('polluted import', () => import('fs?again'));
await attempt('path', () => import('node:../fs'));
Array.prototype.includes = includes; Object.hasOwn = hasOwn; Map.prototype.get = get;
console.log(held.length, typeof (await import('path')).join, typeof globalThis.__assayHost);`;

describe('a list of modules, for JavaScript', () => {
  it('leaves those that are named and no other, whatever is done to the ways there', async () => {
    const { out, err } = await some.javascript(JAVASCRIPT_WAYS);
    expect(err).toBe('');
    expect(out).toBe('7 function undefined\n');
  });

  it('would find them without a list', async () => {
    const { out } = await all.javascript(JAVASCRIPT_WAYS);
    expect(out).toContain('FOUND import');
    expect(out).toContain('FOUND symbol');
  });

  it('takes the files with their module', async () => {
    const { fs } = await none.sandbox();
    await fs.writeFile('own.mjs', 'export const value = 5;');
    const code = `import { value } from './own.mjs'; console.log(value);
await import('fs').catch((problem) => console.log(problem.message));`;
    const { out, err } = await none.javascript(code);
    expect(out, err).toBe("5\nCannot find module 'fs'\n");
  });
});
