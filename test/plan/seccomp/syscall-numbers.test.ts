import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Arch } from '../../../src/host/facts.ts';
import {
  FIRST_UNKNOWN_SYSCALL,
  findSyscallNumber,
  SYSCALL_NUMBERS,
  type SyscallName,
} from '../../../src/plan/seccomp/syscall-numbers.ts';

const HEADERS: readonly { readonly arch: Arch; readonly file: string }[] = [
  { arch: 'x64', file: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h' },
  { arch: 'arm64', file: '/usr/include/asm-generic/unistd.h' },
];
/** From here on both architectures have the same numbers. */
const FIRST_COMMON = 424;

const names = Object.keys(SYSCALL_NUMBERS) as SyscallName[];

describe.each(HEADERS)('the $arch numbers', ({ arch, file }) => {
  it.skipIf(!existsSync(file))('are those of the kernel headers, where these know the call', () => {
    const header = readHeader(file);
    const newest = Math.max(...header.values());
    const unlisted: string[] = [];
    for (const name of names) {
      const number = findSyscallNumber(name, arch);
      if (number !== null && number > newest) unlisted.push(name);
      else expect(header.get(name) ?? null, name).toBe(number);
    }
    expect(unlisted.length).toBeLessThan(20);
  });

  it('are distinct, and older than the first unknown call', () => {
    const numbers = names.flatMap((name) => findSyscallNumber(name, arch) ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(Math.max(...numbers)).toBeLessThan(FIRST_UNKNOWN_SYSCALL);
  });
});

it('gives newer calls the same number on both architectures', () => {
  for (const name of names) {
    const number = findSyscallNumber(name, 'x64') ?? 0;
    if (number >= FIRST_COMMON) expect(findSyscallNumber(name, 'arm64'), name).toBe(number);
  }
});

function readHeader(file: string): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const match of readFileSync(file, 'utf8').matchAll(
    /^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm,
  )) {
    const [, name = '', number] = match;
    if (name !== 'syscalls' && name !== 'arch_specific_syscall') numbers.set(name, Number(number));
  }
  return numbers;
}
