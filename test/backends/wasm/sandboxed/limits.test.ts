import { describe, expect, it } from 'vitest';

import { useSandbox } from './programs.ts';

const MIB = 1024 * 1024;
const { python, javascript, sandbox } = useSandbox({ limits: { memoryBytes: 96 * MIB } });

describe('time of the processor', () => {
  it.each(['python', 'javascript'] as const)('ends %s, and is counted', async (language) => {
    const run = language === 'python' ? python : javascript;
    const code = language === 'python' ? 'while True: pass' : 'for (;;);';
    const { outcome, usage, reached } = await run(code, { limits: { cpuMs: 900 } });
    expect(outcome).toEqual({ kind: 'limit', limit: 'cpuMs', value: 900 });
    expect(reached).toContain('cpuMs');
    expect(usage.cpuMs).toBeGreaterThanOrEqual(900);
  });

  it('is not taken by a program that waits', async () => {
    const code = 'await new Promise((resolve) => setTimeout(resolve, 1500)); console.log("done")';
    const { out, outcome } = await javascript(code, { limits: { cpuMs: 1400 } });
    expect([out, outcome.kind]).toEqual(['done\n', 'exited']);
  });
});

describe('memory', () => {
  it.each([
    ['Python at once', 'python', 'x = bytearray(10 ** 9)'],
    ['Python bit by bit', 'python', 'x = []\nwhile True: x.append("x" * 100000)'],
    ['JavaScript at once', 'javascript', 'new Uint8Array(10 ** 9)'],
    [
      'JavaScript bit by bit',
      'javascript',
      'const x = []; for (;;) x.push(new Array(1000).fill(1))',
    ],
    [
      'JavaScript in texts',
      'javascript',
      'const x = []; for (let i = 0; ; i++) x.push(("x" + i).repeat(1e6));',
    ],
  ] as const)('ends %s, and is named', async (_name, language, code) => {
    const run = language === 'python' ? python : javascript;
    const { outcome, reached } = await run(code);
    expect(outcome).toEqual({ kind: 'limit', limit: 'memoryBytes', value: 96 * MIB });
    expect(reached).toContain('memoryBytes');
  });

  it('can be short for a program that then goes on', async () => {
    const py = await python('try: bytearray(10 ** 9)\nexcept MemoryError: print("caught")');
    expect([py.out, py.outcome]).toEqual(['caught\n', { kind: 'exited', exitCode: 0 }]);
    const js = await javascript('try { new Uint8Array(10 ** 9) } catch { console.log("caught") }');
    expect([js.out, js.outcome]).toEqual(['caught\n', { kind: 'exited', exitCode: 0 }]);
  });

  it('is as much as was said', async () => {
    const code = 'x = bytearray(b"x") * (60 * 1024 * 1024); print(len(x))';
    const { out, usage } = await python(code);
    expect(out).toBe(`${60 * MIB}\n`);
    expect(usage.maxMemoryBytes).toBeGreaterThan(60 * MIB);
    expect(usage.maxMemoryBytes).toBeLessThanOrEqual(96 * MIB);
  });

  it('that no engine starts with is refused', async () => {
    const own = await sandbox();
    await expect(
      own.exec(['python3', '-c', '1'], { limits: { memoryBytes: MIB } }),
    ).rejects.toMatchObject({ code: 'limit_invalid' });
  });
});

describe('the stack', () => {
  it.each([
    ['Python', 'python', 'def f(): return f()\nf()'],
    [
      'Python that asks for more',
      'python',
      'import sys; sys.setrecursionlimit(10 ** 9)\ndef f(): return [*map(lambda _: f(), [1])]\nf()',
    ],
    ['Python in C', 'python', 'x = []\nfor _ in range(10 ** 6): x = [x]\nprint(repr(x)[:5])'],
    ['JavaScript', 'javascript', 'const f = () => f() + 1; f()'],
    [
      'JavaScript in the engine',
      'javascript',
      'let x = []; for (let i = 0; i < 1e6; i++) x = [x]; JSON.stringify(x)',
    ],
    ['JavaScript in its parser', 'javascript', 'JSON.parse("[".repeat(1e6))'],
    [
      'JavaScript in an expression',
      'javascript',
      'new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("x".repeat(1e5))',
    ],
  ] as const)('of %s ends, and nothing else with it', async (_name, language, code) => {
    const run = language === 'python' ? python : javascript;
    const { outcome } = await run(code, { limits: { wallMs: 20_000 } });
    expect(['exited', 'signaled', 'limit']).toContain(outcome.kind);
    expect(outcome).not.toEqual({ kind: 'exited', exitCode: 0 });
    expect((await run(language === 'python' ? 'print(1)' : 'console.log(1)')).out).toBe('1\n');
  });
});

describe('many runs at a time', () => {
  it('share one tree, and each ends by itself', async () => {
    const own = await sandbox();
    const runs = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const code = `require('fs').appendFileSync('shared', '${index}'); if (${index} % 2) for (;;); process.exit(${index})`;
        return await own.exec(['node', '-e', code], { limits: { wallMs: 4000 } });
      }),
    );
    expect(runs.map(({ outcome }) => outcome.kind)).toEqual(
      [0, 1, 2, 3, 4, 5].map((index) => (index % 2 ? 'timeout' : 'exited')),
    );
    const shared = Buffer.from(await own.fs.readFile('shared')).toString();
    expect(shared.split('').toSorted().join('')).toBe('012345');
  });
});
