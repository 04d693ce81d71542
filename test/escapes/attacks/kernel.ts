import * as fs from 'node:fs';

import type { Attack } from '../attack.ts';
import { changes, hasStat, prints, printsSecret } from '../marks.ts';
import { denyGlobs } from './reads.ts';

interface Row extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

function call(row: Row): Attack {
  return { class: 'system call', control: ['seccomp'], isSuccess: prints(/^got /m), ...row };
}

const targetChanges = changes('outside/target.txt', 'original');

export const SYSCALL_ATTACKS: readonly Attack[] = [
  call({ id: 'uring-read', title: 'open a file outside by io_uring', isSuccess: printsSecret }),
  call({ id: 'uring-write', title: 'write a file outside by io_uring', isSuccess: targetChanges }),
  call({
    id: 'uring-connect',
    title: 'connect to a socket outside by io_uring',
    flags: (fixture) => ['--allow-read', fixture.at('sock')],
    isSuccess: printsSecret,
  }),
  call({
    id: 'uring-glob',
    title: 'open a glob-denied file by io_uring',
    flags: denyGlobs,
    isSuccess: printsSecret,
  }),
  call({
    id: 'compat-read',
    title: 'open a file outside by int 0x80',
    needs: 'x64',
    isSuccess: printsSecret,
  }),
  call({
    id: 'compat-glob',
    title: 'open a glob-denied file by int 0x80',
    needs: 'x64',
    flags: denyGlobs,
    isSuccess: printsSecret,
  }),
  call({
    id: 'compat-chmod',
    title: 'chmod outside by int 0x80',
    needs: 'x64',
    flags: (fixture) => ['--preset', 'coding-agent', '--allow-read', fixture.at('outside')],
    isSuccess: hasStat('outside/target.txt', (stat) => (stat.mode & 0o777) === 0o777),
  }),
  call({
    id: 'x32-read',
    title: 'open a file outside by an x32 number',
    needs: 'x64',
    isSuccess: printsSecret,
    vacuousWhen: () => 'this kernel has no x32 ABI',
  }),
  call({ id: 'syscall-bpf', title: 'make a BPF map', needs: 'root' }),
  call({ id: 'syscall-perf', title: 'open a performance counter' }),
  call({ id: 'syscall-userfaultfd', title: 'catch page faults in user space' }),
  call({
    id: 'syscall-kernel-log',
    title: "read the kernel's log",
    needs: 'root',
    control: ['seccomp', 'user'],
  }),
  call({
    id: 'syscall-clock',
    title: 'adjust the clock',
    needs: 'root',
    control: ['seccomp', 'user'],
  }),
  call({
    id: 'syscall-hostname',
    title: 'set the host name',
    needs: 'root',
    control: ['seccomp', 'user'],
  }),
  call({
    id: 'syscall-io-ports',
    title: 'get at I/O ports',
    needs: 'root',
    control: ['seccomp', 'user'],
    vacuousWhen: () => 'this kernel has no I/O ports',
  }),
];

function ipc(row: Row): Attack {
  return { class: 'shared memory', control: ['ipc', 'seccomp'], isSuccess: printsSecret, ...row };
}

export const IPC_ATTACKS: readonly Attack[] = [
  ipc({ id: 'ipc-sysv-shm', title: "attach to another process's shared memory" }),
  ipc({ id: 'ipc-sysv-msg', title: 'take a message from a System V queue' }),
  ipc({ id: 'ipc-posix-mq', title: 'take a message from a POSIX queue' }),
  ipc({ id: 'ipc-key-read', title: "read a key of the user's keyring", control: ['seccomp'] }),
  ipc({
    id: 'ipc-key-plant',
    title: "leave a key in the user's keyring",
    control: ['seccomp'],
    isSuccess: (_result, fixture) => fixture.show('show-key').includes('key found'),
  }),
];

function privilege(row: Row): Attack {
  return {
    class: 'privilege',
    control: ['seccomp'],
    flags: () => ['--preset', 'coding-agent'],
    isSuccess: prints(/^got /m),
    ...row,
  };
}

export const PRIVILEGE_ATTACKS: readonly Attack[] = [
  privilege({ id: 'priv-unshare', title: 'capabilities in a nested namespace: unshare' }),
  privilege({ id: 'priv-clone', title: 'capabilities in a nested namespace: clone' }),
  privilege({ id: 'priv-clone3', title: 'capabilities in a nested namespace: clone3' }),
  privilege({ id: 'priv-pid-namespace', title: 'a pid namespace to hide in' }),
  privilege({
    id: 'priv-setns-mount',
    title: 'join the mount namespace of a process outside',
    control: ['seccomp', 'pid', 'user'],
    needs: 'root',
    isSuccess: printsSecret,
  }),
  privilege({
    id: 'priv-setns-pidfd',
    title: 'join all namespaces of a process outside',
    control: ['seccomp', 'pid', 'user'],
    needs: 'root',
    isSuccess: printsSecret,
  }),
  privilege({
    id: 'priv-setuid',
    title: 'run a setuid program',
    control: ['start-up'],
    needs: 'user under root',
    flags: (fixture) => ['--preset', 'coding-agent', '--allow-read', fixture.at('outside')],
    prepare: (fixture) => {
      fs.writeFileSync(fixture.at('outside/root-secret.txt'), fixture.secret, { mode: 0o600 });
      fs.copyFileSync(fixture.program, fixture.at('work/suid'));
      fs.chownSync(fixture.at('work/suid'), 0, 0);
      fs.chmodSync(fixture.at('work/suid'), 0o4755);
    },
    isSuccess: printsSecret,
  }),
  ...(['4755', '2755'] as const).map((mode) =>
    privilege({
      id: `priv-leave-${mode}`,
      title: `leave a program with mode ${mode}`,
      control: ['broker', 'user'],
      needs: 'root',
      script: `cp attack left; chmod ${mode} left`,
      isSuccess: hasStat('work/left', (stat) => (stat.mode & 0o6000) !== 0),
    }),
  ),
  privilege({
    id: 'priv-leave-created',
    title: 'create a program with mode 2755',
    control: ['broker', 'user'],
    needs: 'root',
    script: 'install -m 2755 attack left; :',
    isSuccess: hasStat('work/left', (stat) => (stat.mode & 0o6000) !== 0),
  }),
  privilege({
    id: 'priv-dac-override',
    title: "read another user's file as root does",
    control: ['user', 'start-up'],
    needs: 'root',
    prepare: (fixture) => {
      fs.writeFileSync(fixture.at('work/not-ours.txt'), fixture.secret);
      fs.chownSync(fixture.at('work/not-ours.txt'), 12_345, 12_345);
      fs.chmodSync(fixture.at('work/not-ours.txt'), 0);
    },
    isSuccess: printsSecret,
  }),
];
