import { describe, expect, it } from 'vitest';

import { useSandbox } from './programs.ts';

const { sandbox, exec, javascript } = useSandbox({ env: { GIVEN: 'given' } });

describe('JavaScript', () => {
  it.each([
    ['numbers', '1, -0, 1n, NaN', '1 -0 1n NaN'],
    ['texts', '"a", ["a", "it\'s"]', "a [ 'a', \"it's\" ]"],
    ['objects', '{ a: 1, "b-c": [1, { d: {} }] }', "{ a: 1, 'b-c': [ 1, { d: {} } ] }"],
    ['depth', '{ a: { b: { c: { d: 1 } } } }', '{ a: { b: { c: [Object] } } }'],
    ['maps', 'new Map([[1, { a: 2 }]]), new Set(["x"])', "Map(1) { 1 => { a: 2 } } Set(1) { 'x' }"],
    ['classes', 'new (class Point { x = 1 })()', 'Point { x: 1 }'],
    ['functions', '() => 1, class A {}', '[Function (anonymous)] [class A]'],
    ['formats', '"%s is %d%%", "x", 5, "more"', 'x is 5% more'],
    ['itself', '(() => { const o = {}; o.o = o; return o; })()', '{ o: [Circular *1] }'],
    ['bytes', 'new Uint8Array([1, 2])', 'Uint8Array(2) [ 1, 2 ]'],
  ])('prints %s as Node does', async (_name, values, printed) => {
    expect((await javascript(`console.log(${values})`)).out).toBe(`${printed}\n`);
  });

  it('prints what is long on several lines', async () => {
    const { out } = await javascript(
      'console.log(Array.from({ length: 30 }, (_, i) => "item " + i))',
    );
    expect(out.split('\n').length).toBeGreaterThan(30);
  });

  it('has arguments, environment, directory and exit codes', async () => {
    const code =
      'console.log(process.argv.slice(1), process.env.GIVEN, process.cwd()); process.exit(7)';
    const { out, exitCode } = await exec(['node', '-e', code, 'one', 'zwei ü']);
    expect(out).toBe("[ 'one', 'zwei ü' ] given /workspace\n");
    expect(exitCode).toBe(7);
    expect((await javascript('process.exitCode = 3')).exitCode).toBe(3);
  });

  it('reads its input, as text, by listening and byte for byte', async () => {
    const stdin = 'first\nsecond ü\n';
    const all = 'console.log(JSON.stringify(require("fs").readFileSync(0, "utf8")))';
    const listening =
      'let t = ""; process.stdin.on("data", (d) => t += d).on("end", () => console.log(JSON.stringify(t)))';
    const awaiting =
      'let t = ""; for await (const d of process.stdin) t += d; console.log(JSON.stringify(t))';
    for (const code of [all, listening, awaiting])
      expect((await javascript(code, { stdin })).out).toBe(`${JSON.stringify(stdin)}\n`);
    const bytes = Buffer.from([0, 255, 10, 195, 40]);
    const echo = 'process.stdout.write(require("fs").readFileSync(0))';
    expect(Buffer.from((await javascript(echo, { stdin: bytes })).stdout)).toEqual(bytes);
  });

  it('runs timers in order, and awaits', async () => {
    const code = `setTimeout(() => console.log('late'), 900);
setTimeout((word) => console.log(word), 300, 'soon');
const id = setInterval(() => { console.log('again'); clearInterval(id); }, 600);
queueMicrotask(() => console.log('micro'));
console.log(await new Promise((resolve) => setTimeout(resolve, 1, 'awaited')));`;
    expect((await javascript(code)).out).toBe('micro\nawaited\nsoon\nagain\nlate\n');
  });

  it.each([
    ['an error', 'throw new TypeError("bad")', 'Uncaught TypeError: bad'],
    ['a value', 'throw "text"', "Uncaught 'text'"],
    ['a rejection', 'Promise.reject(new Error("lost"))', 'Uncaught Error: lost'],
    [
      'an error in a timer',
      'setTimeout(() => { throw new Error("late") })',
      'Uncaught Error: late',
    ],
    ['an error in a module', 'import "fs"; throw new Error("deep")', 'Uncaught Error: deep'],
    ['a fault of syntax', 'let let = 1;', 'Uncaught SyntaxError'],
    ['a module that is not there', 'import "left-pad"', "Cannot find module 'left-pad'"],
  ])('ends with %s, which it says', async (_name, code, said) => {
    const { err, outcome } = await javascript(code);
    expect(err).toContain(said);
    expect(outcome).toEqual({ kind: 'exited', exitCode: 1 });
    // Nothing of where assay lies.
    expect(err).not.toMatch(/dist|node_modules|wasm-cell/);
  });

  it('says where, in lines and columns of the program', async () => {
    const { err } = await javascript('const a = 1; a.b.c;\nfunction f() {}');
    expect(err).toMatch(/\[eval\]:1:1\d\)/);
  });

  it('has random numbers of every size', async () => {
    const code = `const bytes = crypto.getRandomValues(new Uint32Array(64));
console.log(Math.max(...bytes) > 2 ** 24, crypto.randomUUID().length, new Set(bytes).size > 60);`;
    expect((await javascript(code)).out).toBe('true 36 true\n');
  });

  it('goes on after a rejection that is handled in time', async () => {
    const { out, isOk } = await javascript(
      'const p = Promise.reject(1); p.catch(() => console.log("caught"));',
    );
    expect([out, isOk]).toEqual(['caught\n', true]);
  });

  it('works with files', async () => {
    const code = `const fs = require('node:fs');
fs.mkdirSync('a/b', { recursive: true });
fs.writeFileSync('a/b/text', 'tëxt'); fs.appendFileSync('a/b/text', '!');
fs.writeFileSync('a/bytes', new Uint8Array([0, 255]));
console.log(fs.readFileSync('a/b/text', 'utf8'), fs.readFileSync('a/bytes'), fs.readdirSync('a'));
console.log(fs.statSync('a/b').isDirectory(), fs.statSync('a/b/text').size, fs.existsSync('none'));
fs.renameSync('a/bytes', 'a/moved'); fs.symlinkSync('moved', 'a/link');
console.log(fs.readlinkSync('a/link'), fs.readFileSync('a/link').length, fs.readdirSync('a', { recursive: true }));
try { fs.readFileSync('none') } catch (error) { console.log(error.code, error.message) }
fs.rmSync('a', { recursive: true });
console.log(fs.existsSync('a'), typeof (await fs.promises.readdir('.')).length);`;
    const { out, err } = await javascript(code);
    expect(err).toBe('');
    expect(out).toBe(`tëxt! Uint8Array(2) [ 0, 255 ] [ 'b', 'bytes' ]
true 6 false
moved 2 [ 'b', 'b/text', 'link', 'moved' ]
ENOENT ENOENT: no such file or directory, open 'none'
false number
`);
  });

  it('loads modules of both kinds from its files', async () => {
    const { fs } = await sandbox();
    await fs.mkdir('lib');
    await fs.writeFile('lib/half.cjs', 'exports.half = (n) => n / 2; exports.name = __filename;');
    await fs.writeFile('lib/twice.mjs', 'export const twice = (n) => n * 2; export default 1;');
    await fs.writeFile('lib/data.json', '{"answer":42}');
    await fs.writeFile(
      'main.cjs',
      `const { half, name } = require('./lib/half.cjs');
console.log(half(4), name, require('./lib/data').answer, require('./lib/half.cjs') === module.children);`,
    );
    await fs.writeFile(
      'main.mjs',
      `import one, { twice } from './lib/twice.mjs';
import { join } from 'node:path';
console.log(one, twice(4), join('a', '..', 'b'), (await import('./lib/twice.mjs')).twice(1));`,
    );
    expect((await exec(['node', 'main.cjs'])).out).toBe('2 /workspace/lib/half.cjs 42 false\n');
    expect((await exec(['node', '/workspace/main.mjs'])).out).toBe('1 8 b 2\n');
    expect((await exec(['node', 'none.js'])).exitCode).toBe(1);
  });

  it('runs code that was put beside the workspace, which it cannot change', async () => {
    const own = await sandbox();
    const path = await own.putCode?.(
      'task.mjs',
      Buffer.from(`import { writeFileSync } from 'fs';
console.log(import.meta.url !== undefined);
try { writeFileSync('/run/code/task.mjs', 'x') } catch (error) { console.log(error.code) }`),
    );
    const { out, denials } = await exec(['node', path ?? '']);
    expect(out).toMatch(/EROFS\n$/);
    expect(denials).toContainEqual(
      expect.objectContaining({ action: 'fs.write', target: '/run/code/task.mjs' }),
    );
  });
});
