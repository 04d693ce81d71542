import { describe, expect, it } from 'vitest';

import { useSandbox } from './programs.ts';

const off = useSandbox({ canEval: false });
const on = useSandbox();

/** Goes to everything that can be reached from the global object and from a value of every kind of syntax. */
const WALK = `const seen = new Set();
const todo = [globalThis, function () {}, async function () {}, function* () {}, async function* () {}, () => {}, class {}, /x/,
  [][Symbol.iterator](), new Map().entries(), ''[Symbol.iterator](), (function* () {})(), (async function* () {})(), Promise.resolve(),
  new Proxy({}, {}), new Error('x'), Symbol.iterator, 1n, 'text', 1, true, (function () { return arguments; })(), import.meta,
  await import('fs'), await import('util'), new WeakMap(), new Date(), new Uint8Array(1), new DataView(new ArrayBuffer(1)), new FinalizationRegistry(() => {})];
const calls = [];
while (todo.length > 0) {
  let value = todo.pop();
  if (value === null || value === undefined) continue;
  if (typeof value !== 'object' && typeof value !== 'function') value = Object.getPrototypeOf(value);
  if (seen.has(value)) continue;
  seen.add(value);
  todo.push(Object.getPrototypeOf(value));
  for (const key of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    todo.push(property.value, property.get, property.set);
    if (property.get) { try { todo.push(property.get.call(value)); } catch {} }
  }
}
let made = 0;
for (const value of seen) {
  if (typeof value !== 'function') continue;
  const name = String(value.name);
  // What would end or hang the walk itself.
  if (['exit', 'readStdin', 'tick', 'wait', 'setInterval', 'write'].includes(name)) continue;
  for (const use of [() => value('globalThis.MADE = 1; 1'), () => new value('globalThis.MADE = 1; 1'), () => value('globalThis.MADE = 1')(), () => Reflect.construct(value, ['globalThis.MADE = 1'])()]) {
    try { use(); } catch {}
    if (globalThis.MADE) { made += 1; console.log('MADE', name); delete globalThis.MADE; }
  }
}
console.log(seen.size > 500, made);
process.exit(0);`;

describe('code out of text', () => {
  it('is made by nothing that can be reached when it is off', async () => {
    const { out, err } = await off.javascript(WALK);
    expect(out, err).toMatch(/^true 0$/m);
    expect(out).not.toMatch(/^MADE/m);
  });

  it('would be found by the same walk when it is on', async () => {
    const { out } = await on.javascript(WALK);
    expect(out).toMatch(/^MADE eval$/m);
    expect(out).toMatch(/^MADE Function$/m);
  });

  it.each([
    ['eval', 'eval("1")'],
    ['another name for eval', '(0, eval)("1")'],
    ['eval of the global object', 'globalThis["ev" + "al"]("1")'],
    ['Function', 'new Function("return 1")()'],
    ['the constructor of a function', '(() => {}).constructor("return 1")()'],
    ['of an async function', '(async () => {}).constructor("return 1")()'],
    ['of a generator', '(function* () {}).constructor("yield 1")().next()'],
    ['of an async generator', '(async function* () {}).constructor("yield 1")().next()'],
    ['a class of functions', 'new (class extends (() => {}).constructor {})("return 1")()'],
    ['what a prototype hides', 'Object.getPrototypeOf(async () => {}).constructor("return 1")'],
    ['a timer with a text', 'setTimeout("globalThis.x = 1")'],
    ['a module out of an address', 'await import("data:text/javascript,export default 1")'],
    [
      'a module that was just written',
      'require("fs").writeFileSync("made.mjs", "export default 1"); await import("./made.mjs")',
    ],
    [
      'a script that was just written',
      'require("fs").writeFileSync("made.cjs", "exports.x = 1"); require("./made.cjs")',
    ],
    [
      'one that was written and moved',
      'const fs = require("fs"); fs.writeFileSync("made.txt", "export default 1"); fs.renameSync("made.txt", "moved.mjs"); await import("./moved.mjs")',
    ],
    [
      'one that was copied from what was given',
      'const fs = require("fs"); fs.writeFileSync("copy.mjs", "export default 1"); fs.symlinkSync("copy.mjs", "link.mjs"); await import("./link.mjs")',
    ],
  ])('is refused by way of %s', async (_name, code) => {
    const { exitCode, err } = await off.javascript(`${code}; console.log('made')`);
    expect(exitCode, err).toBe(1);
    expect(err).toMatch(/eval is off|must be a function|Cannot find module/);
    const { out } = await on.javascript(`${code}; console.log('made')`);
    if (!code.includes('setTimeout') && !code.includes('data:')) expect(out).toBe('made\n');
  });

  it('is refused in what a program left for the next call, which whoever holds the sandbox can lift', async () => {
    await off.javascript('require("fs").writeFileSync("left.mjs", "console.log(1)")');
    expect((await off.exec(['node', 'left.mjs'])).err).toContain('eval is off');
    const { fs } = await off.sandbox();
    await fs.writeFile('left.mjs', 'console.log(1)');
    expect((await off.exec(['node', 'left.mjs'])).out).toBe('1\n');
  });

  it('goes on without it as before', async () => {
    const { out } = await off.javascript(`const f = () => 1;
console.log(f instanceof Function, typeof Function.prototype.call, JSON.parse('[1]'), new RegExp('a+').test('aa'), f.bind(null)());`);
    expect(out).toBe('true function [ 1 ] true 1\n');
  });

  it('cannot be kept from Python, which is therefore not started', async () => {
    const { outcome, exitCode } = await off.python('print(1)');
    expect(outcome).toMatchObject({
      kind: 'refused',
      denial: { action: 'exec', target: 'python3', rule: 'canEval: false' },
    });
    expect(exitCode).toBe(126);
  });
});
