import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Arch } from '../../../src/host/facts.ts';
import { compileFilter } from '../../../src/plan/seccomp/compile-filter.ts';
import { findSyscallNumber, type SyscallName } from '../../../src/plan/seccomp/syscall-numbers.ts';
import { ALL_BROKERED, makeRequest } from './requests.ts';

const SOURCE = fileURLToPath(new URL('apply-filter.c', import.meta.url));
const BAD_FD = '-1';
const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

type Row = readonly [call: SyscallName, args: readonly string[], errno: number];

/** Chosen so that without the filter each ends otherwise, for root and for anyone else. */
const REFUSED: readonly Row[] = [
  ['ptrace', ['0'], EPERM],
  ['clone3', ['0', '0'], ENOSYS],
  ['io_uring_setup', ['1', '0'], ENOSYS],
  ['unshare', ['0x20000001'], EPERM],
  ['process_vm_readv', ['-1', '0', '0', '0', '0', '1'], EPERM],
  ['umount2', ['0', '0x1000'], EPERM],
  ['keyctl', ['0', '-1', '1'], EPERM],
  ['ioctl', [BAD_FD, '0x5412'], EPERM],
  ['ioctl', [BAD_FD, '0xdeadbeef00005412'], EPERM],
  ['ioctl', [BAD_FD, '0x40086602'], EPERM],
  ['personality', ['0x400000'], EPERM],
  ['sendto', [BAD_FD, '0', '0', '0x20000000'], EPERM],
  ['setsockopt', [BAD_FD, '6', '30'], EPERM],
  ['socket', ['2', '1', '262'], EPROTONOSUPPORT],
  ['socket', ['10', '2', '0'], EACCES],
  ['socket', ['1', '2', '0'], EACCES],
  ['socket', ['17', '3', '0'], EAFNOSUPPORT],
  ['landlock_create_ruleset', ['0', '0', '1'], EOPNOTSUPP],
  ['fchmod', [BAD_FD, '0'], EPERM],
];

const ALLOWED: readonly (readonly [SyscallName, readonly string[]])[] = [
  ['unshare', ['0x600']],
  ['socket', ['2', '0x80001', '0']],
  ['socket', ['1', '1', '0']],
  ['personality', ['0xffffffff']],
  ['prctl', ['38', '1', '0', '0', '0']],
  ['prlimit64', ['0', '7', '0', '0']],
];

const TRAPPED: readonly Row[] = [
  ['openat', ['-100', '0', '0'], ENOSYS],
  ['openat2', [BAD_FD, '0', '0', '0'], ENOSYS],
  ['connect', [BAD_FD, '0', '0'], ENOSYS],
  ['umask', ['022'], ENOSYS],
  ['fchmod', [BAD_FD, '0'], ENOSYS],
];

const arch = process.arch as Arch;
const isHere = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64');
const hasCompiler = spawnSync('cc', ['--version']).status === 0;

describe.skipIf(!isHere || !hasCompiler)('this kernel, under the compiled filter', () => {
  let directory = '';
  let program = '';
  let strict = '';
  let brokered = '';

  beforeAll(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'assay-seccomp-'));
    program = path.join(directory, 'apply-filter');
    const cc = spawnSync('cc', ['-Wall', '-Wextra', '-Werror', '-o', program, SOURCE]);
    expect(cc.stderr.toString()).toBe('');
    strict = writeFilter('strict', {
      sockets: { inet: 'no-bypass', unix: 'connected', netlink: true },
      isAttributeChangeRefused: true,
      isLandlockRefused: true,
      isIpcRefused: true,
    });
    brokered = writeFilter('brokered', { notify: ALL_BROKERED });
  });

  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  for (const [call, args, errno] of REFUSED) {
    it(`refuses ${call}(${args.join(', ')}) with errno ${errno}`, (context) => {
      const isVacuous = makeCall('-', call, args) === `-1 ${errno}`;
      context.skip(isVacuous, 'this machine answers the same without the filter');
      expect(makeCall(strict, call, args)).toBe(`-1 ${errno}`);
    });
  }

  it.each(ALLOWED)('lets %s(%s) through', (call, args) => {
    expect(makeCall(strict, call, args)).toMatch(/^\d+ 0$/);
  });

  // Without a listener the kernel answers ENOSYS to what it would hand over.
  it.each(TRAPPED)('hands %s(%s) to the listener', (call, args, errno) => {
    expect(makeCall('-', call, args)).not.toBe(`-1 ${errno}`);
    expect(makeCall(brokered, call, args)).toBe(`-1 ${errno}`);
  });

  it('pretends that a brokered process hid its memory', () => {
    expect(makeCall(brokered, 'prctl', ['4', '0'])).toBe('0 0');
    expect(makeCall(brokered, 'prctl', ['4', '1'])).toBe('0 0');
  });

  it.skipIf(process.arch !== 'x64')('kills on a 32-bit call and knows no x32 call', () => {
    const getpid = 20;
    expect(run(strict, ['int80', `${getpid}`]).signal).toBe('SIGSYS');
    expect(run(strict, ['call', `${0x40000000 + 39}`]).stdout).toBe(`-1 ${ENOSYS}\n`);
  });

  it.each([
    ['true', ['/bin/true'], ''],
    ['a shell', ['/bin/sh', '-c', 'echo $((6 * 7)) | cat'], '42\n'],
    [
      'python3',
      ['/usr/bin/env', 'python3', '-c', 'import threading, subprocess; print(6 * 7)'],
      '42\n',
    ],
    ['node', [process.execPath, '-e', 'fetch; console.log(6 * 7)'], '42\n'],
  ])('runs %s', (_, command, output) => {
    const { status, stdout, stderr } = run(strict, ['run', ...command]);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: output, stderr: '' });
  });

  function writeFilter(name: string, parts: Parameters<typeof makeRequest>[0]): string {
    const file = path.join(directory, name);
    writeFileSync(file, compileFilter(makeRequest({ ...parts, arch })));
    return file;
  }

  function makeCall(filter: string, call: SyscallName, args: readonly string[]): string {
    return run(filter, ['call', `${findSyscallNumber(call, arch)}`, ...args]).stdout.trim();
  }

  function run(filter: string, args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync(program, [filter, ...args], { encoding: 'utf8', env: process.env });
  }
});
