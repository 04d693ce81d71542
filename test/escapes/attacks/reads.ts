import * as fs from 'node:fs';

import type { Attack, Control } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import { prints, printsSecret } from '../marks.ts';

interface ReadRow extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

const FILES: readonly Control[] = ['landlock', 'mount'];
const workspace = () => ['--preset', 'coding-agent'];
const plain = () => [];

/** Nothing allows outside/secret.txt in these. */
function read(row: ReadRow): Attack {
  return { class: 'file read', control: FILES, flags: plain, isSuccess: printsSecret, ...row };
}

function plantSymlinks(fixture: Fixture): void {
  fs.symlinkSync(fixture.at('outside/secret.txt'), fixture.at('work/hostile-link'));
  fs.symlinkSync(fixture.at('outside'), fixture.at('work/hostile-dir'));
}

export const READ_ATTACKS: readonly Attack[] = [
  read({ id: 'read-direct', title: 'open a file outside' }),
  read({ id: 'read-dot-dot', title: 'open a file outside by ..' }),
  read({ id: 'read-new-symlink', title: 'make a symlink out of the workspace', flags: workspace }),
  read({
    id: 'read-old-symlink',
    title: 'follow a symlink that came with the workspace',
    prepare: plantSymlinks,
  }),
  read({
    id: 'read-symlinked-directory',
    title: 'follow a directory symlink that came with the workspace',
    prepare: plantSymlinks,
  }),
  read({ id: 'read-proc-self-root', title: 'go through /proc/self/root' }),
  read({ id: 'read-proc-thread-root', title: 'go through /proc/thread-self/root' }),
  read({
    id: 'read-proc-other-root',
    title: 'go through the root of any other process',
    control: [...FILES, 'pid'],
  }),
  read({
    id: 'read-proc-victim-cwd',
    title: "go through another process's cwd",
    control: [...FILES, 'pid'],
  }),
  read({ id: 'read-proc-own-cwd', title: 'go through /proc/self/cwd/..' }),
  read({
    id: 'read-proc-victim-fd',
    title: "reopen another process's descriptor",
    control: [...FILES, 'pid'],
  }),
  read({ id: 'read-opath-reopen', title: 'open with O_PATH, then reopen by /proc/self/fd' }),
  read({ id: 'read-opath-directory', title: 'open a directory with O_PATH, then a file in it' }),
  read({ id: 'read-hard-link', title: 'hard-link a file into the workspace', flags: workspace }),
  read({ id: 'read-chdir', title: 'change the directory first' }),
  read({ id: 'read-openat2', title: 'open by openat2' }),
  read({
    id: 'read-handle',
    title: 'open by file handle',
    control: ['seccomp', 'user'],
    needs: 'root',
  }),
  read({ id: 'read-child-program', title: 'let cat do it' }),
  read({ id: 'read-script', title: 'let sh run it as a script' }),
  read({ id: 'read-listing', title: 'list a directory outside' }),
  read({ id: 'read-chroot', title: 'chroot outside', control: ['seccomp', 'user'] }),
  read({
    id: 'read-bind-mount',
    title: 'bind-mount outside into the workspace',
    control: ['seccomp', 'landlock', 'mount'],
    flags: workspace,
  }),
  read({
    id: 'read-overlay',
    title: 'overlay outside onto the workspace',
    control: ['seccomp', 'landlock', 'mount'],
    flags: workspace,
  }),
  read({
    id: 'read-open-tree',
    title: 'clone a mount tree outside',
    control: ['seccomp', 'landlock', 'mount'],
  }),
  read({
    id: 'read-block-device',
    title: 'make a node of the disk and read it raw',
    control: ['landlock', 'user'],
    flags: workspace,
    needs: 'root',
    isSuccess: prints(/superblock (?!0{32})[0-9a-f]{32}/),
    vacuousWhen: () => 'this machine does not let even root open its disk',
  }),
  read({
    id: 'read-device-node',
    title: 'make a node of another device and read it',
    control: ['landlock', 'user'],
    flags: workspace,
    needs: 'root',
    isSuccess: prints(/^got a device/m),
  }),
  read({ id: 'read-host-tmp', title: "read a file in the host's /tmp" }),
  read({ id: 'read-dev-shm', title: "read a file in the host's /dev/shm" }),
  read({
    id: 'read-inherited-file',
    title: 'read an inherited descriptor',
    control: ['descriptors'],
    inherit: (fixture) => fixture.at('outside/secret.txt'),
  }),
  read({
    id: 'read-inherited-directory',
    title: 'open below an inherited directory',
    control: ['descriptors', ...FILES],
    inherit: (fixture) => fixture.at('outside'),
  }),
  read({
    id: 'read-beside-program',
    title: 'be a link in the workspace to a program whose neighbours are private',
    flags: (fixture) => ['--policy', fixture.at('policy.yaml')],
    prepare: (fixture) => {
      const program = fixture.at('private/bin/attack');
      // The program itself may run, so that its failing is not for want of that.
      fixture.write(
        'policy.yaml',
        `api_version: assay/v1\nextends: [coding-agent]\nfs:\n  read: [${program}]\n  exec: [${program}]\n`,
      );
      fixture.write('private/bin/secret', fixture.secret, 0o600);
      fs.renameSync(fixture.at('work/attack'), program);
      fs.symlinkSync('../private/bin/attack', fixture.at('work/attack'));
    },
  }),
  read({
    id: 'race-read-string',
    title: 'change the path while it is being opened',
    flags: (fixture) => ['--allow-read', fixture.at('outside/allow')],
  }),
];

/** The home or a directory is allowed and something in it is not. */
function deny(row: ReadRow): Attack {
  return {
    class: 'deny inside allow',
    control: ['mount', 'broker'],
    flags: (fixture) => ['--allow-write', fixture.at('home'), '--deny', fixture.at('home/.ssh')],
    isSuccess: printsSecret,
    ...row,
  };
}

const denyDeep = (fixture: Fixture) => [
  '--allow-write',
  fixture.at('outside'),
  '--deny',
  fixture.at('outside/a/b/secret.txt'),
];
const denyEntry = (fixture: Fixture) => [
  '--allow-read',
  fixture.at('outside'),
  '--deny',
  fixture.at('outside/entry'),
];
const denyDir = (fixture: Fixture) => [
  '--allow-read',
  fixture.at('outside'),
  '--deny',
  fixture.at('outside/dir'),
];
const denyRaced = (fixture: Fixture) => [
  '--preset',
  'coding-agent',
  '--allow-read',
  fixture.at('outside'),
  '--deny',
  fixture.at('outside/denyd'),
];
export const denyGlobs = (fixture: Fixture) => [
  '--preset',
  'coding-agent',
  '--deny',
  fixture.at('work/**/.env*'),
  '--deny',
  fixture.at('work/**/*.pem'),
];

function replaceEntry(fixture: Fixture): void {
  fixture.write('outside/.entry.new', fixture.secret);
  fs.renameSync(fixture.at('outside/.entry.new'), fixture.at('outside/entry'));
}

/** As an editor saves. */
function replaceByRename(fixture: Fixture, path: string): void {
  fixture.write(`${path}.new`, 'new');
  fs.renameSync(fixture.at(`${path}.new`), fixture.at(path));
}

function replaceDirectory(fixture: Fixture): void {
  fixture.write('outside/.dir.new/entry', fixture.secret);
  if (fs.existsSync(fixture.at('outside/dir')))
    fs.renameSync(fixture.at('outside/dir'), fixture.at('outside/dir.old'));
  fs.renameSync(fixture.at('outside/.dir.new'), fixture.at('outside/dir'));
}

export const DENY_ATTACKS: readonly Attack[] = [
  deny({ id: 'deny-direct', title: 'open the denied file' }),
  deny({ id: 'deny-proc-root', title: 'open it by /proc/self/root' }),
  deny({ id: 'deny-symlink', title: 'open it by a symlink to its directory' }),
  deny({ id: 'deny-hard-link', title: 'hard-link it next to the allowed files' }),
  deny({ id: 'deny-hard-link-fd', title: 'hard-link it by /proc/self/fd' }),
  deny({ id: 'deny-rename', title: 'rename the denied directory' }),
  deny({ id: 'deny-file-rename', title: 'rename the denied file out' }),
  deny({ id: 'deny-parent-rename', title: 'rename a parent of the denied file', flags: denyDeep }),
  deny({
    id: 'deny-parent-exchange',
    title: 'exchange a parent of the denied file',
    flags: denyDeep,
  }),
  deny({ id: 'deny-chdir', title: 'change into the denied directory' }),
  deny({ id: 'deny-opath-reopen', title: 'open with O_PATH, then reopen' }),
  deny({
    id: 'deny-umount',
    title: 'take the cover off in a nested namespace',
    control: ['mount', 'seccomp'],
  }),
  deny({
    id: 'deny-open-tree',
    title: 'copy the tree without the cover',
    control: ['mount', 'seccomp'],
  }),
  deny({ id: 'deny-bind', title: 'bind the parent elsewhere', control: ['mount', 'seccomp'] }),
  deny({
    id: 'deny-handle',
    title: 'open it by file handle',
    control: ['seccomp', 'user'],
    needs: 'root',
  }),
  deny({
    id: 'deny-replaced-outside',
    title: 'wait until a process outside replaces the denied file',
    flags: denyEntry,
    prepare: (fixture) => fixture.write('outside/entry', 'old'),
    whenReady: replaceEntry,
  }),
  deny({
    id: 'deny-directory-replaced',
    title: 'wait until a process outside replaces the denied directory',
    flags: denyDir,
    prepare: (fixture) => fixture.write('outside/dir/entry', 'old'),
    whenReady: replaceDirectory,
  }),
  deny({
    id: 'deny-late',
    title: 'wait until the denied file appears',
    flags: denyEntry,
    whenReady: replaceEntry,
  }),
  deny({
    id: 'deny-late-directory',
    title: 'wait until the denied directory appears',
    flags: denyDir,
    whenReady: replaceDirectory,
  }),
  deny({
    id: 'deny-held-descriptor',
    title: 'hold an O_PATH descriptor while a process outside replaces the denied file',
    flags: denyEntry,
    prepare: (fixture) => fixture.write('outside/entry', fixture.secret),
    whenReady: (fixture) => replaceByRename(fixture, 'outside/entry'),
  }),
  deny({
    id: 'glob-held-descriptor',
    title: 'hold an O_PATH descriptor while a process outside replaces a *.pem',
    flags: denyGlobs,
    whenReady: (fixture) => replaceByRename(fixture, 'work/sub/key.pem'),
  }),
  deny({
    id: 'race-read-symlink',
    title: 'swap a symlink while it is being opened',
    flags: denyRaced,
  }),
  deny({
    id: 'race-read-directory',
    title: 'swap a directory while a file in it is being opened',
    flags: denyRaced,
  }),
  deny({
    id: 'glob-direct',
    title: 'open a file that a glob denies',
    flags: denyGlobs,
  }),
  deny({
    id: 'glob-late',
    title: 'wait until a *.pem appears',
    flags: denyGlobs,
    whenReady: (fixture) => fixture.write('work/sub/late.pem', fixture.secret),
  }),
  deny({
    id: 'glob-deep-late',
    title: 'wait until a .env appears in a directory that is new, too',
    flags: denyGlobs,
    whenReady: (fixture) => fixture.write('work/sub/new/dir/.env', fixture.secret),
  }),
  deny({ id: 'glob-rename', title: 'rename a file away from the glob', flags: denyGlobs }),
  deny({ id: 'glob-hard-link', title: 'hard-link a file away from the glob', flags: denyGlobs }),
  deny({
    id: 'glob-exchange',
    title: 'exchange a file with one that the glob does not match',
    flags: denyGlobs,
  }),
  deny({
    id: 'glob-symlink',
    title: 'reach it by a symlink that the glob does not match',
    flags: denyGlobs,
  }),
  deny({ id: 'glob-directory-rename', title: 'rename the directory around it', flags: denyGlobs }),
  deny({
    id: 'glob-overwrite',
    title: 'overwrite a file that a glob denies',
    flags: denyGlobs,
    isSuccess: (_result, fixture) =>
      fs.readFileSync(fixture.at('work/sub/.env.local'), 'utf8') === fixture.token,
  }),
];
