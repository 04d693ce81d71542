import { spawnSync } from 'node:child_process';

import { afterAll, describe, expect, it } from 'vitest';

import { COMPILING_MS, HELPER, hasProgram, SOURCES, Workshop } from './compile.ts';

const STRICT = ['-std=c11', '-O2', '-pthread', '-Wall', '-Wextra', '-Werror', '-Wshadow'];
const COMPILERS = ['cc', 'clang', 'aarch64-linux-gnu-gcc'];

describe('the sources of the helper', () => {
  const workshop = new Workshop();
  afterAll(() => workshop.close());

  const NAME = 'compile without a warning with %s';
  it.for(COMPILERS)(NAME, { timeout: COMPILING_MS }, (compiler, { skip }) => {
    if (!hasProgram(compiler)) skip(`${compiler} is not installed`);
    const built = workshop.build(compiler, [...STRICT, ...SOURCES], compiler);
    expect('problem' in built ? built.problem : '').toBe('');
  });
});

describe.skipIf(!hasProgram('readelf'))('the built helper', () => {
  const read = (flag: string): string =>
    spawnSync('readelf', ['-W', flag, HELPER], { encoding: 'utf8' }).stdout;

  it('can be loaded at any address', () => {
    expect(read('--file-header')).toMatch(/Type:\s+DYN/);
  });

  it('has no memory that is both writable and executable, the stack included', () => {
    const segments = read('--program-headers').split('\n');
    expect(segments.filter((line) => /\bRWE\b/.test(line))).toEqual([]);
    expect(segments.some((line) => /GNU_STACK.*\bRW\b/.test(line))).toBe(true);
  });

  it('has its tables made read-only before it starts', () => {
    expect(read('--program-headers')).toContain('GNU_RELRO');
    expect(read('--dynamic')).toMatch(/BIND_NOW|FLAGS_1.*NOW/);
  });

  it('names no directory from which to load code, and no library when it is static', () => {
    const dynamic = read('--dynamic');
    expect(dynamic).not.toMatch(/RPATH|RUNPATH/);
    if (!read('--program-headers').includes('INTERP')) expect(dynamic).not.toContain('NEEDED');
  });
});
