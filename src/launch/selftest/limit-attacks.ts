import { existsSync } from 'node:fs';
import { type Attack, saysGot } from './attack.ts';
import { findDaemons } from './stage.ts';

const EXHAUST: Attack[] = [
  {
    id: 'exhaust-processes',
    title: 'start too many processes (--limit-pids)',
    class: 'exhaust',
    language: 'node',
    flags: ['--limit-pids', '48'],
    program: `const kids = [];
const end = () => { for (const kid of kids) kid.stdin?.destroy(); };
for (let i = 0; i < 96; i++) try {
  const kid = require("child_process").spawn("/bin/sh", ["-c", "read line"], { stdio: ["pipe", "ignore", "ignore"] });
  kid.on("error", () => {}); kid.stdin?.on("error", () => {}); kids.push(kid);
} catch {}
setTimeout(() => { if (kids.filter((kid) => kid.pid && kid.exitCode === null && kid.signalCode === null).length === 96) say("got"); end(); }, 600);`,
    isThrough: saysGot,
    vacuous: 'so many processes cannot be started here',
  },
  {
    id: 'exhaust-memory',
    title: 'use too much memory (--limit-memory)',
    class: 'exhaust',
    language: 'node',
    flags: ['--limit-memory', '256M'],
    // Held for a while, since a soft limit is measured ten times a second.
    program:
      'const parts = []; for (let i = 0; i < 12; i++) parts.push(Buffer.alloc(40 << 20, 1)); setTimeout(() => { if (parts.length === 12) say("got"); }, 800);',
    isThrough: saysGot,
    vacuous: 'there is not so much memory here',
  },
  {
    id: 'exhaust-disk',
    title: 'write too much (--limit-disk)',
    class: 'exhaust',
    language: 'node',
    flags: ['--limit-disk', '8M'],
    program: `const part = Buffer.alloc(1 << 20, 1);
for (let i = 0; i < 32; i++) fs.writeFileSync(process.env.TMPDIR + "/big" + i, part);
setTimeout(() => say("got"), 800);`,
    isThrough: saysGot,
    vacuous: 'there is not so much space here',
  },
  {
    id: 'exhaust-files',
    title: 'create too many files (--limit-files)',
    class: 'exhaust',
    language: 'node',
    flags: ['--limit-files', '50'],
    program:
      'for (let i = 0; i < 200; i++) fs.writeFileSync(process.env.TMPDIR + "/file" + i, ""); say("got");',
    isThrough: saysGot,
    vacuous: 'so many files cannot be made here',
  },
  {
    id: 'exhaust-time',
    title: 'run too long (--timeout)',
    class: 'exhaust',
    language: 'node',
    flags: ['--timeout', '1s'],
    // Longer than the limit and the time that a program gets to end in good order.
    program: 'process.on("SIGTERM", () => {}); setTimeout(() => say("got"), 4500);',
    isThrough: saysGot,
    vacuous: 'the program does not run that long here',
  },
];

const PERSIST: Attack[] = [
  {
    id: 'leave-daemon',
    title: 'leave a daemon behind',
    class: 'persist',
    language: 'node',
    program: `const code = 'for (const name of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(name, () => {}); setTimeout(() => {}, 5000)';
require("child_process").spawn(process.execPath, ["-e", code, "daemon-" + S.token], { detached: true, stdio: "ignore" }).unref();
setTimeout(() => {}, 300);`,
    isThrough: async (_, { facts }) => {
      // The kernel ends a tree after it has told us that its first process ended.
      for (let round = 0; round < 10 && findDaemons(facts.token).length > 0; round++)
        await new Promise((done) => setTimeout(done, 20));
      return findDaemons(facts.token).length > 0;
    },
    vacuous: 'a daemon does not stay here anyway',
  },
  {
    id: 'leave-tmp',
    title: 'leave a file behind in /tmp',
    class: 'persist',
    language: 'node',
    program: 'fs.writeFileSync(S.tmpPlant, S.token);',
    isThrough: (_, { facts }) => existsSync(facts.tmpPlant),
    target: ({ facts }) => ({ kind: 'file', op: 'write', path: facts.tmpPlant }),
    vacuous: '/tmp cannot be written here',
  },
  {
    id: 'leave-shm',
    title: 'leave a file behind in /dev/shm',
    class: 'persist',
    language: 'node',
    program: 'fs.writeFileSync(S.shmPlant, S.token);',
    isThrough: (_, { facts }) => existsSync(facts.shmPlant),
    // Every policy allows /dev/shm, and means a private one: no target here.
    vacuous: '/dev/shm cannot be written here',
  },
];

export const LIMIT_ATTACKS: readonly Attack[] = [...EXHAUST, ...PERSIST];
