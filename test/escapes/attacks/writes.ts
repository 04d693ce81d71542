import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';

import type { Attack, Control } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { changes, exists, hasStat, isGone, plants } from '../marks.ts';

interface WriteRow extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

const FILES: readonly Control[] = ['landlock', 'mount'];
const workspace = () => ['--preset', 'coding-agent'];
const readable = (fixture: Fixture) => [
  '--preset',
  'coding-agent',
  '--allow-read',
  fixture.at('outside'),
];
const targetChanges = changes('outside/target.txt', 'original');
const isPlanted = exists('outside/planted');

function write(row: WriteRow): Attack {
  return { class: 'file write', control: FILES, flags: readable, isSuccess: targetChanges, ...row };
}

/** A number of the kernel's that the program raises by one; what it was is kept for undo. */
function kernelSetting(row: WriteRow, path: string): Attack {
  const key = `${row.id}=`;
  return write({
    flags: workspace,
    control: ['landlock', 'mount', 'user'],
    needs: 'root',
    ...row,
    prepare: (fixture) => void fixture.notes.add(key + fs.readFileSync(path, 'utf8')),
    isSuccess: (_result, fixture) => !fixture.notes.has(key + fs.readFileSync(path, 'utf8')),
    undo: (fixture) => {
      const old = [...fixture.notes].find((note) => note.startsWith(key));
      if (old !== undefined) fs.writeFileSync(path, old.slice(key.length));
    },
  });
}

export const WRITE_ATTACKS: readonly Attack[] = [
  write({ id: 'write-open', title: 'open a file outside for writing' }),
  write({ id: 'write-append', title: 'append to a file outside' }),
  write({ id: 'write-create', title: 'create a file outside', isSuccess: isPlanted }),
  write({ id: 'write-shell', title: 'let sh redirect into it' }),
  write({ id: 'write-truncate', title: 'truncate it by path' }),
  write({ id: 'write-o-trunc', title: 'truncate it by a read-only open' }),
  write({ id: 'write-reopen', title: 'reopen a read-only descriptor for writing' }),
  write({ id: 'write-opath-reopen', title: 'reopen an O_PATH descriptor for writing' }),
  write({ id: 'write-new-symlink', title: 'write through a symlink' }),
  write({ id: 'write-hard-link', title: 'write through a hard link in the workspace' }),
  write({
    id: 'write-rename-out',
    title: 'rename a file out of the workspace',
    isSuccess: isPlanted,
  }),
  write({ id: 'write-rename-over', title: 'rename a file over one outside' }),
  write({ id: 'write-rename-in', title: 'rename a file from outside into the workspace' }),
  write({ id: 'write-exchange', title: 'exchange a file with one outside' }),
  write({
    id: 'write-link-out',
    title: 'hard-link a file out of the workspace',
    isSuccess: isPlanted,
  }),
  write({ id: 'write-symlink-out', title: 'make a symlink outside', isSuccess: isPlanted }),
  write({ id: 'write-mknod', title: 'make a FIFO outside', isSuccess: isPlanted }),
  write({ id: 'write-bind-socket', title: 'bind a socket outside', isSuccess: isPlanted }),
  write({ id: 'write-mkdir', title: 'make a directory outside', isSuccess: isPlanted }),
  write({ id: 'write-unlink', title: 'remove a file outside' }),
  write({
    id: 'write-rmdir',
    title: 'remove a directory outside',
    isSuccess: isGone('outside/empty'),
  }),
  write({ id: 'write-tmpfile', title: 'O_TMPFILE and linkat outside', isSuccess: isPlanted }),
  write({
    id: 'write-tmpfile-inside',
    title: 'O_TMPFILE inside, linkat outside',
    isSuccess: isPlanted,
  }),
  write({ id: 'write-fallocate', title: 'grow a file outside' }),
  write({ id: 'write-mmap', title: 'write by a shared mapping' }),
  write({ id: 'write-dirfd', title: 'create below an O_PATH directory', isSuccess: isPlanted }),
  write({ id: 'write-proc-root', title: 'write by /proc/self/root' }),
  write({
    id: 'write-handle',
    title: 'write by file handle',
    control: ['seccomp', 'user'],
    needs: 'root',
  }),
  write({
    id: 'write-bind-mount',
    title: 'bind-mount outside and write',
    control: ['seccomp', 'landlock', 'mount'],
  }),
  write({
    id: 'write-remount',
    title: 'remount what is read-only',
    control: ['seccomp', 'landlock', 'mount'],
  }),
  write({
    id: 'write-mount-setattr',
    title: 'clear read-only by mount_setattr',
    control: ['seccomp', 'landlock'],
  }),
  write({ id: 'race-write-string', title: 'change the path while it is opened for writing' }),
  write({ id: 'race-write-symlink', title: 'swap a symlink while it is opened for writing' }),
  write({
    id: 'race-write-directory',
    title: 'swap a directory while a file in it is opened for writing',
  }),
  write({
    id: 'write-home-bashrc',
    title: 'add to ~/.bashrc',
    flags: workspace,
    isSuccess: plants('home/.bashrc'),
  }),
  write({
    id: 'write-home-gitconfig',
    title: 'set a git alias for the user',
    flags: workspace,
    isSuccess: plants('home/.gitconfig'),
  }),
  write({
    id: 'write-home-authorized-keys',
    title: 'add an ssh key',
    flags: workspace,
    isSuccess: plants('home/.ssh/authorized_keys'),
  }),
  write({
    id: 'write-host-tmp',
    title: "leave a file in the host's /tmp",
    flags: workspace,
    isSuccess: (_result, fixture) =>
      fs.existsSync(`/tmp/${fixture.base.slice('/var/tmp/'.length)}.plant`),
  }),
  write({
    id: 'write-dev-shm',
    title: "leave a file in the host's /dev/shm",
    flags: workspace,
    isSuccess: (_result, fixture) =>
      fs.existsSync(`/dev/shm/${fixture.base.slice('/var/tmp/'.length)}.plant`),
  }),
  kernelSetting(
    { id: 'write-proc-sys', title: 'write /proc/sys' },
    '/proc/sys/kernel/printk_ratelimit_burst',
  ),
  kernelSetting(
    { id: 'write-sys', title: 'write /sys' },
    '/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs',
  ),
  write({
    id: 'write-cgroup',
    title: 'make a cgroup',
    flags: workspace,
    control: ['landlock', 'mount', 'user'],
    needs: 'root',
    isSuccess: (_result, fixture) => fs.existsSync(cgroupOf(fixture)),
  }),
  write({
    id: 'write-kmsg',
    title: "write the kernel's log",
    flags: workspace,
    control: ['landlock', 'user'],
    needs: 'root',
    isSuccess: (_result, fixture) =>
      spawnSync('dmesg', { encoding: 'utf8' }).stdout.includes(fixture.token),
  }),
];

function cgroupOf(fixture: Fixture): string {
  const conf = fs.readFileSync(fixture.at('work/victim.conf'), 'utf8');
  return /^cgroup_plant=(.*)$/m.exec(conf)?.[1] ?? '';
}

/** Landlock has no right for these: the broker, or a read-only mount, has to refuse them. */
function attribute(row: WriteRow): Attack {
  return {
    class: 'attributes',
    control: ['mount', 'broker', 'seccomp'],
    flags: readable,
    isSuccess: isOpenToAll,
    ...row,
  };
}

const isOpenToAll = hasStat('outside/target.txt', (stat) => (stat.mode & 0o777) === 0o777);
const isChowned = hasStat('outside/target.txt', (stat) => stat.uid === 12_345);
const isAncient = hasStat('outside/target.txt', (stat) => stat.mtimeMs < 10_000);
const hasXattr: Attack['isSuccess'] = (_result, fixture) =>
  fixture.show('show-xattr').includes(`xattr ${fixture.token}`);
const hasFlag: Attack['isSuccess'] = (_result, fixture) =>
  fixture.show('show-flags').includes('flags nodump');

export const ATTRIBUTE_ATTACKS: readonly Attack[] = [
  attribute({ id: 'attr-chmod', title: 'chmod outside' }),
  attribute({ id: 'attr-fchmod', title: 'fchmod by a read-only descriptor' }),
  attribute({ id: 'attr-chmod-proc-fd', title: 'chmod by /proc/self/fd' }),
  attribute({
    id: 'attr-fchmodat2',
    title: 'fchmodat2 on an O_PATH descriptor',
    vacuousWhen: () => (kernelIsOlderThan(6, 6) ? 'fchmodat2 came with 6.6' : undefined),
  }),
  attribute({ id: 'attr-chmod-symlink', title: 'chmod through a symlink' }),
  attribute({ id: 'attr-chown', title: 'chown outside', needs: 'root', isSuccess: isChowned }),
  attribute({
    id: 'attr-fchown',
    title: 'fchown by a read-only descriptor',
    needs: 'root',
    isSuccess: isChowned,
  }),
  attribute({ id: 'attr-utimes', title: 'set times outside', isSuccess: isAncient }),
  attribute({
    id: 'attr-futimens',
    title: 'set times by a read-only descriptor',
    isSuccess: isAncient,
  }),
  attribute({
    id: 'attr-setxattr',
    title: 'set an extended attribute outside',
    isSuccess: hasXattr,
  }),
  attribute({
    id: 'attr-fsetxattr',
    title: 'set one by a read-only descriptor',
    isSuccess: hasXattr,
  }),
  attribute({
    id: 'attr-setxattrat',
    title: 'set one by setxattrat',
    isSuccess: hasXattr,
    vacuousWhen: () => (kernelIsOlderThan(6, 13) ? 'setxattrat came with 6.13' : undefined),
  }),
  attribute({
    id: 'attr-setflags',
    title: 'set inode flags by a read-only descriptor',
    isSuccess: hasFlag,
  }),
  attribute({
    id: 'attr-fssetxattr',
    title: 'set inode flags by FS_IOC_FSSETXATTR',
    isSuccess: hasFlag,
  }),
  attribute({
    id: 'attr-file-setattr',
    title: 'set inode flags by file_setattr',
    isSuccess: hasFlag,
    vacuousWhen: () => (kernelIsOlderThan(6, 17) ? 'file_setattr came with 6.17' : undefined),
  }),
];

function kernelIsOlderThan(major: number, minor: number): boolean {
  const [, ours = '0', oursMinor = '0'] =
    /^(\d+)\.(\d+)/.exec(fs.readFileSync('/proc/sys/kernel/osrelease', 'utf8')) ?? [];
  return Number(ours) < major || (Number(ours) === major && Number(oursMinor) < minor);
}
