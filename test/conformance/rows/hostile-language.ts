import { ends, hostileMs, isContained } from '../expectations.ts';
import { TRYING } from '../python.ts';
import type { ProgramRow, Row } from '../row.ts';

const MIB = 1024 * 1024;
const ANY_END = ['exited', 'signaled', 'timeout', 'limit'] as const;

const say = (row: Pick<ProgramRow, 'name' | 'code'> & Partial<ProgramRow>): ProgramRow => ({
  group: 'hostile',
  language: 'python',
  seconds: 60,
  spec: { limits: { memoryBytes: 256 * MIB } },
  options: (kit) => ({ limits: { wallMs: hostileMs(kit) } }),
  check: ends(...ANY_END),
  ...row,
  // Some take all that there is.
  needs: ['limit:memoryBytes', ...(row.needs ?? [])],
});

const script = (row: Pick<ProgramRow, 'name' | 'code'> & Partial<ProgramRow>): ProgramRow =>
  say({ language: 'javascript', ...row });

const PYTHON: Row[] = [
  say({
    name: 'Python: recursion without end',
    code: `import sys
sys.setrecursionlimit(10 ** 9)
def down(n): return down(n + 1) + 1
down(0)
`,
  }),
  say({ name: 'Python: a number without end', code: `print(len(str(9 ** 9 ** 9)))\n` }),
  say({
    name: 'Python: an expression that never matches',
    code: `import re
re.match(r'(a+)+$', 'a' * 60 + 'b')
`,
  }),
  say({
    name: 'Python: decompression bomb',
    code: `import zlib
data = zlib.compress(b'x' * (32 * 1024 * 1024))
held = [zlib.decompress(data) for _ in range(32)]
print('ESCAPED', len(held))
`,
    needs: ['limit:memoryBytes'],
  }),
  say({ name: 'Python: a text of a terabyte', code: `print(len(f'{1:>{1 << 40}}'))\n` }),
  say({
    name: 'Python: nesting that breaks the parser',
    code: `try: eval('(' * 100000 + ')' * 100000)
except BaseException as problem: print('HELD', type(problem).__name__)
`,
  }),
  say({
    name: 'Python: code that is no code',
    code: `import types
def f(): pass
f.__code__ = f.__code__.replace(co_code=bytes([116, 255, 100, 255, 83, 0] * 50))
f()
`,
  }),
  say({
    name: 'Python: every descriptor by its number',
    check: isContained,
    needs: ['files'],
    code: ({ planted }) => `${TRYING}
print('HELD nothing yet')
for number in list(range(3, 200)) + [-1, -100, 1 << 20, (1 << 31) - 1]:
    look('read %d' % number, lambda: os.read(number, 4096))
    look('below %d' % number, lambda: os.read(os.open('${planted[0]}', os.O_RDONLY, dir_fd=number), 4096))
    look('list %d' % number, lambda: os.listdir(number))
`,
  }),
  say({
    name: 'Python: a path in every spelling',
    check: isContained,
    needs: ['files'],
    code: ({ planted }) => `${TRYING}
path = '${planted[0]}'
for spelt in ('/' + path, '//' + path, '/.' + path, '/..' + path, '/workspace/..' + path, '/workspace/../..' + path, '/workspace/./../.' + path,
    path.replace('/', '//'), path + '/.', path + '/', '/tmp/..' + path, '../' * 200 + path, '/workspace/' + 'x/../' * 200 + '..' + path,
    'file://' + path, path.replace('.', '%2e'), path.upper(), path + chr(0), chr(0) + path, '/proc/self/root' + path, '/proc/1/root' + path, '/dev/fd/3' + path):
    look(repr(spelt[:60]), lambda: read(spelt))
`,
  }),
  say({
    name: 'Python: links that change while they are followed',
    check: isContained,
    needs: ['files'],
    code: ({ planted }) => `${TRYING}
for index in range(300):
    for target in ('${planted[0]}', '/workspace/own', 'turn', '..', '/'):
        try: os.remove('/workspace/turn')
        except OSError: pass
        os.symlink(target, '/workspace/turn')
        look('turn', lambda: read('/workspace/turn')) if index == 0 else None
        try: read('/workspace/turn')
        except OSError: pass
os.remove('/workspace/turn')
print('HELD done')
`,
  }),
  say({
    name: 'Python: data that is code',
    code: `import marshal, pickle, random, sys
random.seed(1)
good = marshal.dumps(compile('x = 1', 'x', 'exec'))
for index in range(3000):
    bad = bytearray(good)
    for _ in range(random.randrange(1, 8)): bad[random.randrange(len(bad))] = random.randrange(256)
    try: code = marshal.loads(bytes(bad))
    except BaseException: continue
class Bomb:
    def __reduce__(self): return (eval, ('[0] * (1 << 40)',))
try: pickle.loads(pickle.dumps(Bomb()))
except BaseException as problem: print('HELD', type(problem).__name__)
`,
  }),
  say({
    name: 'Python: every module that leads outside',
    check: isContained,
    code: ({ planted }) => `${TRYING}
import importlib
for name, use in {
    'os': lambda m: m.popen('cat ${planted[0]}').read(),
    'subprocess': lambda m: m.run(['cat', '${planted[0]}'], capture_output=True).stdout,
    'io': lambda m: m.open_code('${planted[0]}').read(),
    'posix': lambda m: m.read(m.open('${planted[0]}', 0), 100),
    'linecache': lambda m: m.getlines('${planted[0]}'),
    'mmap': lambda m: m.mmap(os.open('${planted[0]}', os.O_RDONLY), 0, prot=1).read(),
    'urllib.request': lambda m: m.urlopen('file://${planted[0]}').read(),
    'ctypes': lambda m: m.CDLL(None).system(b'cat ${planted[0]}'),
    'pty': lambda m: m.spawn(['cat', '${planted[0]}']),
    'js': lambda m: m.process.env,
    'pyodide_js': lambda m: m.FS.readFile('${planted[0]}'),
    'importlib.util': lambda m: m.spec_from_file_location('x', '${planted[0]}').loader.get_data('${planted[0]}'),
}.items():
    look(name, lambda: use(importlib.import_module(name)))
`,
  }),
];

const reading = (planted: readonly string[]): string => `const PATH = ${JSON.stringify(planted[0])};
async function look(name, action) {
  try {
    console.log('SEEN', name, String(await action()).slice(0, 500));
  } catch (problem) {
    console.log('HELD', name, String(problem).slice(0, 100));
  }
}
`;

const JAVASCRIPT: Row[] = [
  script({ name: 'JavaScript: endless loop', code: 'for (;;);\n', check: ends('timeout') }),
  script({
    name: 'JavaScript: endless promises',
    code: `const again = () => Promise.resolve().then(again); again();\n`,
    // Some engines keep them all until the memory is full, or until their own heap is, and then they give up.
    check: ends('timeout', 'limit', 'signaled'),
  }),
  script({
    name: 'JavaScript: recursion without end',
    code: `const down = (n) => down(n + 1) + 1;
try { down(0); } catch (problem) { console.log('HELD', problem.name); }
const again = () => { try { again(); } catch { again(); } };
again();
`,
  }),
  script({
    name: 'JavaScript: texts that double',
    code: `let text = 'x'; const held = [];
for (let index = 0; index < 60; index++) { text += text; held.push(text.split('')); }
console.log('ESCAPED');
`,
    needs: ['limit:memoryBytes'],
  }),
  script({
    name: 'JavaScript: an expression that never matches',
    code: `/^(a+)+$/.test('a'.repeat(60) + 'b');\n`,
  }),
  script({
    name: 'JavaScript: a number without end',
    code: `let number = 3n; for (;;) number **= 3n;\n`,
  }),
  script({
    name: 'JavaScript: an array of everything',
    code: `try { new Array(2 ** 32 - 1).fill(1); } catch (problem) { console.log('HELD', problem.name); }
try { new ArrayBuffer(2 ** 53 - 1); } catch (problem) { console.log('HELD', problem.name); }
`,
  }),
  script({
    name: 'JavaScript: waiting for a memory that nobody writes',
    code: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);\n`,
  }),
  script({
    name: 'JavaScript: a getter that never returns',
    code: `console.log({ get [Symbol.toStringTag]() { for (;;); }, toString() { for (;;); }, inspect() { for (;;); } } + '');\n`,
    check: ends('timeout'),
  }),
  script({
    name: 'JavaScript: every way to the process and its modules',
    check: isContained,
    code: ({ planted }) => `${reading(planted)}
await look('import', async () => (await import('node:fs')).readFileSync(PATH, 'utf8'));
await look('require', () => require('fs').readFileSync(PATH, 'utf8'));
await look('binding', () => process.binding('fs').internalModuleReadJSON(PATH));
await look('constructor', () => (() => {}).constructor('return process')().getBuiltinModule('fs').readFileSync(PATH, 'utf8'));
await look('global', () => globalThis.constructor.constructor('return process')().mainModule.require('fs').readFileSync(PATH, 'utf8'));
await look('error', () => { try { null.x; } catch (e) { return e.constructor.constructor('return process')().getBuiltinModule('fs').readFileSync(PATH, 'utf8'); } });
await look('std', async () => (await import('std')).loadFile(PATH));
await look('qjs:std', async () => (await import('qjs:std')).loadFile(PATH));
await look('os', async () => (await import('os')).open(PATH, 0));
await look('json', async () => JSON.stringify(await import(PATH, { with: { type: 'json' } })));
await look('fetch', async () => await (await fetch('file://' + PATH)).text());
await look('worker', async () => await new Promise((resolve, reject) => { new Worker('data:,').onerror = reject; resolve('worker'); }));
await look('child', async () => (await import('node:child_process')).execFileSync('cat', [PATH]));
`,
  }),
  script({
    name: 'JavaScript: messages to whoever runs it',
    check: isContained,
    code: ({ planted }) => `${reading(planted)}
await look('parentPort', () => parentPort.postMessage({ tell: 'end', end: { kind: 'exited', exitCode: 0 } }));
await look('postMessage', () => postMessage({ type: 'ended', id: 1 }));
await look('send', () => process.send({ type: 'ready' }));
await look('channel', async () => new MessageChannel().port1.postMessage(1));
await look('broadcast', () => new BroadcastChannel('x').postMessage(1));
await look('workerData', async () => JSON.stringify((await import('node:worker_threads')).workerData));
await look('bindings', () => Object.keys(process.binding('natives')).length);
await look('wasm', async () => WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
await look('deno', () => Deno.readTextFileSync(PATH));
await look('bun', () => Bun.file(PATH).text());
await look('mainModule', () => process.mainModule.require('fs').readFileSync(PATH));
console.log('HELD', Object.getOwnPropertyNames(globalThis).length);
`,
  }),
  script({
    name: 'JavaScript: buffers that grow, shrink and go away',
    code: `const held = [];
for (let index = 0; index < 2000; index++) {
  const buffer = new ArrayBuffer(64, { maxByteLength: 1 << 20 });
  const view = new Uint32Array(buffer);
  try { buffer.resize(1 << 20); view.fill(index); buffer.resize(8); view[1000] = 1; held.push(view.at(0)); } catch {}
  try { const moved = buffer.transfer(16); held.push(view.length, moved.byteLength); view[0] = 1; } catch {}
  try { view.sort(() => { buffer.resize(0); return 1; }); } catch {}
  try { Array.prototype.concat.call(view, { length: 2 ** 32, get 0() { buffer.resize(0); } }); } catch {}
}
console.log('HELD', held.length > 0);
`,
  }),
  script({
    name: 'JavaScript: a sort that lies and a proxy that does not end',
    code: `const list = Array.from({ length: 5000 }, (_, index) => index);
try { list.sort(() => { list.length = Math.random() * 5000; return Math.random() - 0.5; }); } catch {}
let proxy = {};
for (let index = 0; index < 100_000; index++) proxy = new Proxy(proxy, {});
try { proxy.x; } catch (problem) { console.log('HELD', problem.name); }
try { Object.setPrototypeOf(proxy, proxy); } catch (problem) { console.log('HELD', problem.name); }
console.log('HELD end');
`,
  }),
  script({
    name: 'JavaScript: prototypes that are changed',
    check: isContained,
    code: ({ planted }) => `${reading(planted)}
Object.prototype.then = function (resolve) { resolve('polluted'); };
Array.prototype[Symbol.iterator] = function* () { yield 'polluted'; };
Function.prototype.call = function () { return 'polluted'; };
await look('still', () => 'here');
Object.prototype.toString = () => { throw new Error('no'); };
Object.defineProperty(Object.prototype, 'exitCode', { get() { return 0; }, set() {} });
`,
  }),
  script({
    name: 'JavaScript: an error that lies about itself',
    code: `const bad = new Error('x');
Object.defineProperty(bad, 'stack', { get() { for (;;); } });
Object.defineProperty(bad, 'message', { get() { throw bad; } });
throw bad;
`,
  }),
];

export const LANGUAGE_PROGRAMS: Row[] = [...PYTHON, ...JAVASCRIPT];
