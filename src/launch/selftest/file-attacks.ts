import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { FsRight } from '../../policy/policy.ts';
import { type Attack, saysGot, type Target, tellsSecret } from './attack.ts';
import type { Stage, StageFacts } from './stage.ts';

type FileFact = {
  [Name in keyof StageFacts]: StageFacts[Name] extends string ? Name : never;
}[keyof StageFacts];

function on(op: FsRight, name: FileFact): (stage: Stage) => Target {
  return ({ facts }) => ({ kind: 'file', op, path: facts[name] });
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}

const NOT_READABLE = 'the planted secret cannot be read this way here';
const NOT_WRITABLE = 'the planted file cannot be changed this way here';

type ReadAttack = Pick<Attack, 'id' | 'title' | 'program' | 'prepare' | 'isWorkspaceWritten'>;

const READS: readonly ReadAttack[] = [
  {
    id: 'read-outside',
    title: 'read a file outside the workspace',
    program: 'say(fs.readFileSync(S.secretFile, "latin1"));',
  },
  {
    id: 'read-dotdot',
    title: 'read it through ..',
    program: 'process.chdir(S.work); say(fs.readFileSync("../outside/secret.txt", "latin1"));',
  },
  {
    id: 'read-symlink',
    title: 'read it through a planted symbolic link',
    program: 'say(fs.readFileSync(S.work + "/notes.txt", "latin1"));',
    prepare: ({ facts }) => symlinkSync(facts.secretFile, join(facts.work, 'notes.txt')),
  },
  {
    id: 'read-proc-root',
    title: 'read it through /proc/self/root',
    program: 'say(fs.readFileSync("/proc/self/root" + S.secretFile, "latin1"));',
  },
  {
    id: 'read-hard-link',
    title: 'link it into the workspace and read that',
    program:
      'fs.linkSync(S.secretFile, S.work + "/link.txt"); say(fs.readFileSync(S.work + "/link.txt", "latin1"));',
    isWorkspaceWritten: true,
  },
  {
    id: 'read-rename',
    title: 'move it into the workspace and read that',
    program:
      'fs.renameSync(S.secretFile, S.work + "/moved.txt"); say(fs.readFileSync(S.work + "/moved.txt", "latin1"));',
    isWorkspaceWritten: true,
  },
];

const OUTSIDE_READS: Attack[] = READS.map((attack) => ({
  ...attack,
  class: 'read',
  language: 'node',
  isThrough: tellsSecret,
  target: on('read', 'secretFile'),
  vacuous: NOT_READABLE,
}));

const OTHER_READS: Attack[] = [
  {
    id: 'list-outside',
    title: 'list a directory outside',
    class: 'read',
    language: 'node',
    program: 'if (fs.readdirSync(S.outside).includes("secret.txt")) say("got");',
    isThrough: saysGot,
    target: on('read', 'outside'),
    vacuous: NOT_READABLE,
  },
  {
    id: 'read-host-tmp',
    title: 'read what others keep in /tmp',
    class: 'read',
    language: 'node',
    program: 'say(fs.readFileSync(S.tmpSecret, "latin1"));',
    isThrough: tellsSecret,
    target: on('read', 'tmpSecret'),
    vacuous: NOT_READABLE,
  },
  {
    id: 'read-host-shm',
    title: 'read shared memory of the host',
    class: 'read',
    language: 'node',
    program: 'say(fs.readFileSync(S.shmSecret, "latin1"));',
    isThrough: tellsSecret,
    vacuous: 'there is no /dev/shm to write to',
  },
];

type WriteAttack = Pick<Attack, 'id' | 'title' | 'program' | 'isThrough' | 'prepare'>;

const WRITES: readonly WriteAttack[] = [
  {
    id: 'write-outside',
    title: 'overwrite a file outside',
    program: 'fs.writeFileSync(S.targetFile, S.token);',
    isThrough: (_, { facts }) => read(facts.targetFile).includes(facts.token),
  },
  {
    id: 'truncate-outside',
    title: 'empty a file outside',
    program: 'fs.truncateSync(S.targetFile, 0);',
    isThrough: (_, { facts }) => read(facts.targetFile) === '',
  },
  {
    id: 'delete-outside',
    title: 'delete a file outside',
    program: 'fs.unlinkSync(S.targetFile);',
    isThrough: (_, { facts }) => !existsSync(facts.targetFile),
  },
  {
    id: 'create-outside',
    title: 'create a file outside',
    program: 'fs.writeFileSync(S.outside + "/new.txt", S.token);',
    isThrough: (_, { facts }) => existsSync(join(facts.outside, 'new.txt')),
  },
  {
    id: 'chmod-outside',
    title: 'change the mode of a file outside',
    program: 'fs.chmodSync(S.targetFile, 0o777);',
    prepare: ({ facts }) => chmodSync(facts.targetFile, 0o600),
    isThrough: (_, { facts }) => (statSync(facts.targetFile).mode & 0o777) === 0o777,
  },
  {
    id: 'utimes-outside',
    title: 'change the times of a file outside',
    program: 'fs.utimesSync(S.targetFile, 1, 1);',
    prepare: ({ facts }) => utimesSync(facts.targetFile, 1000, 1000),
    isThrough: (_, { facts }) => statSync(facts.targetFile).mtimeMs === 1000,
  },
];

const OUTSIDE_WRITES: Attack[] = WRITES.map((attack) => ({
  ...attack,
  class: 'write',
  language: 'node',
  target: on('write', 'targetFile'),
  vacuous: NOT_WRITABLE,
}));

const KERNEL_WRITE: Attack = {
  id: 'write-sysctl',
  title: 'open a kernel setting for writing',
  class: 'write',
  language: 'node',
  // Opening is enough to prove the point, and changes nothing on the host.
  program: 'fs.closeSync(fs.openSync("/proc/sys/kernel/domainname", "r+")); say("got");',
  isThrough: saysGot,
  target: () => ({ kind: 'file', op: 'write', path: '/proc/sys/kernel/domainname' }),
  vacuous: 'only root can write kernel settings',
};

function plants(id: string, title: string, file: string, extra = ''): Attack {
  return {
    id,
    title,
    class: 'configuration',
    language: 'node',
    program: `${extra}const file = S.work + "/${file}"; fs.mkdirSync(require("path").dirname(file), { recursive: true }); fs.writeFileSync(file, S.token);`,
    isWorkspaceWritten: true,
    isThrough: (_, { facts }) => read(join(facts.work, file)).includes(facts.token),
    target: ({ facts }) => ({ kind: 'file', op: 'write', path: join(facts.work, file) }),
    vacuous: 'the file cannot be written here',
  };
}

const CONFIG: Attack[] = [
  plants('config-git-hook', 'plant a git hook', '.git/hooks/pre-commit'),
  plants(
    'config-git-moved',
    'move .git away and plant a hook in a new one',
    '.git/hooks/pre-commit',
    'fs.renameSync(S.work + "/.git", S.work + "/old"); ',
  ),
  {
    ...plants('config-git-config', 'rewrite .git/config', '.git/config'),
    target: ({ facts }) => ({ kind: 'git config', path: join(facts.work, '.git/config') }),
  },
  plants('config-editor', 'plant an editor task', '.vscode/tasks.json'),
  plants('config-agent', 'plant an agent server', '.mcp.json'),
  plants('config-shell', 'plant a shell start-up file', '.envrc'),
];

export const FILE_ATTACKS: readonly Attack[] = [
  ...OUTSIDE_READS,
  ...OTHER_READS,
  ...OUTSIDE_WRITES,
  KERNEL_WRITE,
  ...CONFIG,
];
