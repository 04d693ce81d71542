import { describe, expect, it } from 'vitest';

import { useSandbox } from './programs.ts';

const { sandbox, exec, python } = useSandbox({ env: { PYTHONPATH: 'lib' } });

describe('Python', () => {
  it('starts in its directory, with its arguments, paths and flags', async () => {
    const { fs } = await sandbox();
    await fs.mkdir('deep');
    await fs.writeFile(
      'deep/main.py',
      `import os, sys
print(os.getcwd(), sys.argv[1:], sys.path[0], sys.flags.optimize, __file__)`,
    );
    const { out } = await exec(['python3', '-O', '-W', 'ignore', 'main.py', 'ä'], { cwd: 'deep' });
    expect(out).toBe("/workspace/deep ['ä'] /workspace/deep 1 /workspace/deep/main.py\n");
    expect((await exec(['/usr/bin/python3', '-m', 'calendar', '2024', '2'])).out).toContain(
      'February',
    );
    expect((await exec(['python3', '-'], { stdin: 'print(6 * 7)' })).out).toBe('42\n');
  });

  it('finds modules beside the script and on its path, and leaves no traces of them', async () => {
    const { fs } = await sandbox();
    await fs.writeFile('beside.py', 'VALUE = 1');
    await fs.mkdir('lib');
    await fs.writeFile('lib/along.py', 'VALUE = 2');
    await fs.writeFile(
      'use.py',
      'import beside, along, os; print(beside.VALUE, along.VALUE, os.environ["PYTHONPATH"])',
    );
    const { out, err } = await exec(['python3', 'use.py']);
    expect(out, err).toBe('1 2 /workspace/lib\n');
    expect(await fs.readdir('')).not.toContain('__pycache__/');
  });

  it('has a library that works', async () => {
    const { out, err } =
      await python(`import json, re, math, hashlib, sqlite3, datetime, csv, zlib, random, decimal, base64, collections, itertools, statistics, unicodedata, xml.etree.ElementTree as ET, tempfile, pathlib, asyncio, zipfile
db = sqlite3.connect('/workspace/data.db')
db.execute('drop table if exists t')
db.execute('create table t (n)'); db.executemany('insert into t values (?)', [(i,) for i in range(10)]); db.commit()
print(sqlite3.connect('/workspace/data.db').execute('select sum(n) from t').fetchone())
with tempfile.TemporaryDirectory() as place: pathlib.Path(place, 'x').write_text('x'); print(place.startswith('/tmp'))
print(hashlib.sha256(b'x').hexdigest()[:8], json.dumps({'a': [1, None]}), ET.fromstring('<a><b/></a>')[0].tag)
print(random.random() != random.random(), datetime.datetime.now().year > 2000)
async def later(n): await asyncio.sleep(n / 100); print('after', n); return n
async def main(): return await asyncio.gather(later(3), later(1), asyncio.wait_for(later(2), 1))
print(asyncio.run(main()))
`);
    expect(err).toBe('');
    expect(out).toContain(
      '(45,)\nTrue\n2d711642 {"a": [1, null]} b\nTrue True\nafter 1\nafter 2\nafter 3\n[3, 1, 2]\n',
    );
  });

  it('ends with what it says', async () => {
    expect((await python('raise ValueError("bad")')).err).toContain('ValueError: bad');
    expect((await python('raise ValueError("bad")')).exitCode).toBe(1);
    expect((await python('import os; os._exit(9)')).exitCode).toBe(9);
    expect((await python('import os; os.abort()')).outcome).toEqual({
      kind: 'signaled',
      signal: 'SIGABRT',
    });
  });

  it('is told the time, and sleeps without turning in circles', async () => {
    const { out, usage, durationMs } = await python(
      'import time; time.sleep(1.2); print(time.time())',
    );
    expect(Math.abs(Number(out) * 1000 - Date.now())).toBeLessThan(30_000);
    expect(durationMs).toBeGreaterThan(1200);
    expect(usage.cpuMs).toBeLessThan(1200);
  });

  it('has no parts that write to its memory as told', async () => {
    const code = `import sys
for name in ('_testcapi', '_testinternalcapi', '_testbuffer', '_xxtestfuzz', 'ctypes'):
    try: __import__(name); print('there', name)
    except ImportError: pass
from importlib.machinery import BuiltinImporter
print(BuiltinImporter.find_spec('_testcapi'), '_testcapi' in sys.builtin_module_names)`;
    expect((await python(code)).out).toBe('None False\n');
  });
});

describe('other programs', () => {
  it.each([['bash'], ['/bin/sh'], ['python2'], ['__proto__'], ['constructor'], ['./python3']])(
    '%s are not there',
    async (name) => {
      const { outcome, exitCode, denials } = await exec([name, '-c', 'true']);
      expect(outcome.kind).toBe('refused');
      expect(exitCode).toBe(127);
      expect(denials).toMatchObject([{ action: 'exec', target: name }]);
    },
  );
});
