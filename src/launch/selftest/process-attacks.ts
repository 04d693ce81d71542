import { type Attack, saysGot, tellsSecret } from './attack.ts';

/** The variable that carries the secret of the stage; its name says that it is one. */
export const SECRET_VARIABLE = 'SELFTEST_API_KEY';

const ENVIRONMENT: Attack[] = [
  {
    id: 'env-secret',
    title: 'read a secret from the environment',
    class: 'environment',
    language: 'node',
    program: `say(process.env.${SECRET_VARIABLE} ?? "");`,
    isThrough: tellsSecret,
    target: () => ({ kind: 'environment' }),
    vacuous: 'the variable is not passed on here',
  },
  {
    id: 'env-proc',
    title: 'find it in the environment of any process',
    class: 'environment',
    language: 'node',
    program: `for (const pid of fs.readdirSync("/proc")) {
  if (!/^(self|\\d+)$/.test(pid)) continue;
  try {
    const text = fs.readFileSync("/proc/" + pid + "/environ", "latin1");
    for (const entry of text.split("\\0")) if (entry.startsWith("${SECRET_VARIABLE}=")) say(entry);
  } catch {}
}`,
    isThrough: tellsSecret,
    target: () => ({ kind: 'environment' }),
    vacuous: 'environments of processes cannot be read here',
  },
];

const PROCESSES: Attack[] = [
  {
    id: 'proc-environ',
    title: 'read the environment of a process outside',
    class: 'process',
    language: 'node',
    program: 'say(fs.readFileSync("/proc/" + S.victimPid + "/environ", "latin1"));',
    hasVictim: true,
    isThrough: tellsSecret,
    vacuous: 'environments of processes cannot be read here',
  },
  {
    id: 'proc-cwd',
    title: 'read through the directory of a process outside',
    class: 'process',
    language: 'node',
    program: 'say(fs.readFileSync("/proc/" + S.victimPid + "/cwd/secret.txt", "latin1"));',
    hasVictim: true,
    isThrough: tellsSecret,
    target: ({ facts }) => ({ kind: 'file', op: 'read', path: facts.secretFile }),
    vacuous: 'directories of processes cannot be followed here',
  },
  {
    id: 'proc-list',
    title: 'see a process outside',
    class: 'process',
    language: 'node',
    program:
      'if (fs.readFileSync("/proc/" + S.victimPid + "/cmdline", "latin1").includes("read line")) say("got");',
    hasVictim: true,
    isThrough: saysGot,
    vacuous: 'processes are hidden here anyway',
  },
  {
    id: 'kill-outside',
    title: 'end a process outside',
    class: 'process',
    language: 'node',
    program: 'process.kill(S.victimPid, "SIGKILL");',
    hasVictim: true,
    isThrough: async (_, { victim }) => {
      for (
        let round = 0;
        round < 10 && victim?.exitCode === null && victim.signalCode === null;
        round++
      )
        await new Promise((done) => setTimeout(done, 10));
      return victim?.signalCode === 'SIGKILL';
    },
    vacuous: 'processes cannot be signalled here',
  },
  {
    id: 'ptrace-outside',
    title: 'trace a process outside',
    class: 'process',
    language: 'python',
    program: 'if libc.ptrace(0x4206, S["victimPid"], None, None) == 0: say("got")', // PTRACE_SEIZE
    hasVictim: true,
    isThrough: saysGot,
    vacuous: 'this host lets no process trace another one (kernel.yama.ptrace_scope)',
  },
  {
    id: 'inherited-descriptor',
    title: 'read an inherited descriptor',
    class: 'process',
    language: 'node',
    // Only plain files: reading from a pipe of node itself would wait for ever.
    program: `for (let fd = 3; fd < 64; fd++) try {
  if (!fs.fstatSync(fd).isFile()) continue;
  const bytes = Buffer.alloc(200);
  say(bytes.toString("latin1", 0, fs.readSync(fd, bytes, 0, 200, 0)));
} catch {}`,
    inherit: ({ facts }) => facts.secretFile,
    isThrough: tellsSecret,
    target: ({ facts }) => ({ kind: 'file', op: 'read', path: facts.secretFile }),
    vacuous: 'the descriptor is not passed on here',
  },
];

const READ_STATUS =
  'const field = (name) => new RegExp("^" + name + ":\\\\s*(\\\\w+)", "m").exec(fs.readFileSync("/proc/self/status", "latin1"))?.[1] ?? "";';

const PRIVILEGES: Attack[] = [
  {
    id: 'new-privileges',
    title: 'gain privileges by executing (setuid)',
    class: 'privilege',
    language: 'node',
    program: `${READ_STATUS} if (field("NoNewPrivs") === "0") say("got");`,
    isThrough: saysGot,
    vacuous: 'no new privileges can be gained here anyway',
  },
  {
    id: 'capabilities',
    title: 'hold or regain a capability',
    class: 'privilege',
    language: 'node',
    // The bounding set alone gives nothing where executing gains nothing, and only root could empty it.
    program: `${READ_STATUS} const has = (name) => /[^0]/.test(field(name));
if (["CapInh", "CapPrm", "CapEff", "CapAmb"].some(has) || (has("CapBnd") && field("NoNewPrivs") === "0")) say("got");`,
    isThrough: saysGot,
    vacuous: 'there are no capabilities here anyway',
  },
  {
    id: 'change-user',
    title: 'become another user',
    class: 'privilege',
    language: 'node',
    program: 'process.setuid(process.getuid() + 1); say("got");',
    isThrough: saysGot,
    vacuous: 'only root can become another user',
  },
];

export const PROCESS_ATTACKS: readonly Attack[] = [...ENVIRONMENT, ...PROCESSES, ...PRIVILEGES];
