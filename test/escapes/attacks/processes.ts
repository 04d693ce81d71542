import { availableParallelism } from 'node:os';

import type { Attack } from '../attack.ts';
import {
  endsVictim,
  prints,
  printsSecret,
  reachesVictim,
  victimHas,
  victimNotes,
} from '../marks.ts';

interface Row extends Partial<Attack> {
  readonly id: string;
  readonly title: string;
}

function onProcess(row: Row): Attack {
  return {
    class: 'process',
    control: ['pid', 'landlock', 'seccomp'],
    isSuccess: printsSecret,
    ...row,
  };
}

function terminal(row: Row): Attack {
  return {
    class: 'terminal',
    control: ['seccomp'],
    hasTerminal: true,
    isSuccess: (result, fixture) =>
      result.stdout.includes(`waiting in the terminal: ${fixture.token}`),
    ...row,
  };
}

/** Where neither Landlock nor a pid namespace keeps processes of the user apart, as in containers on old kernels. */
const UNGUARDED: readonly Attack[] = [
  ...(
    [
      ['proc-environ', 'read the environment of other processes'],
      ['proc-environ-again', 'the same by a descriptor that names it'],
      ['proc-mem', "read another process's memory by /proc"],
      ['proc-mem-again', 'the same by a descriptor that names it'],
      ['proc-mem-from-inside', 'the same from its directory in /proc'],
      ['proc-fd-memory', 'read memory that another process holds by a descriptor'],
      ['proc-fd-memory-again', 'the same by a descriptor that names it'],
      ['proc-fd-memory-of-task', 'the same by way of its threads'],
      ['proc-fd-memory-spun', 'the same by a descriptor that is exchanged all the time'],
    ] as const
  ).map(([id, title]) => unguarded(id, title, printsSecret)),
  unguarded('proc-fd-pipe', "write to another process's pipe", reachesVictim),
  unguarded('proc-fd-pipe-again', 'the same by a descriptor that names it', reachesVictim),
];

function unguarded(id: string, title: string, isSuccess: Attack['isSuccess']): Attack {
  return onProcess({
    id: `${id}-unguarded`,
    title: `${title}, which no other layer guards`,
    control: ['broker'],
    script: `exec ./attack ${id} "$1" "$2"`,
    flags: () => ['--layers=-landlock,-user,-pid'],
    isSuccess,
  });
}

export const PROCESS_ATTACKS: readonly Attack[] = [
  ...UNGUARDED,
  onProcess({ id: 'proc-environ', title: 'read the environment of other processes' }),
  onProcess({
    id: 'proc-cmdline',
    title: 'read the arguments of other processes',
    control: ['pid', 'landlock'],
  }),
  onProcess({ id: 'proc-mem', title: "read another process's memory by /proc" }),
  onProcess({ id: 'proc-ptrace', title: 'attach to another process' }),
  onProcess({ id: 'proc-vm-readv', title: "read another process's memory" }),
  onProcess({
    id: 'proc-vm-writev',
    title: "write another process's memory",
    isSuccess: victimNotes(/^canary changed$/m),
  }),
  onProcess({ id: 'proc-pidfd-getfd', title: "take another process's descriptor" }),
  onProcess({
    id: 'proc-prlimit',
    title: "change another process's limits",
    isSuccess: victimHas('limits', /Max open files\s+777 /),
  }),
  onProcess({
    id: 'proc-setpriority',
    title: "change another process's priority",
    isSuccess: victimHas('stat', /\) (\S+ ){16}15 /),
  }),
  onProcess({
    id: 'proc-affinity',
    title: 'bind another process to one processor',
    isSuccess: victimHas('status', /Cpus_allowed_list:\t0\n/),
    vacuousWhen: () => (availableParallelism() < 2 ? 'there is one processor only' : undefined),
  }),
  onProcess({
    id: 'proc-oom-score',
    title: 'offer another process to the out-of-memory killer',
    isSuccess: victimHas('oom_score_adj', /^777$/m),
  }),
  ...(
    [
      ['signal-kill', 'kill'],
      ['signal-tgkill', 'tgkill'],
      ['signal-tkill', 'tkill'],
      ['signal-queue', 'rt_sigqueueinfo'],
      ['signal-pidfd', 'pidfd_send_signal'],
      ['signal-proc-directory', 'pidfd_send_signal on /proc/PID'],
      ['signal-group', 'kill of the process group'],
      ['signal-sigio', 'a pipe that signals its owner'],
    ] as const
  ).map(([id, how]) =>
    onProcess({
      id,
      title: `end another process: ${how}`,
      control: ['pid', 'landlock'],
      isSuccess: endsVictim,
    }),
  ),
];

export const TERMINAL_ATTACKS: readonly Attack[] = [
  terminal({ id: 'tty-tiocsti', title: 'put a command into the terminal' }),
  terminal({ id: 'tty-tiocsti-wide', title: 'the same with high bits in the request' }),
  terminal({ id: 'tty-tiocsti-dev-tty', title: 'the same by /dev/tty' }),
  terminal({
    id: 'tty-other',
    title: 'write to another terminal of the user',
    control: ['landlock', 'mount'],
    hasTerminal: false,
    isSuccess: reachesVictim,
  }),
];

/** Names that a scrubber has to know; the value is the secret. */
const SECRET_NAMES = [
  'AWS_SECRET_ACCESS_KEY',
  'GITHUB_TOKEN',
  'OPENAI_API_KEY',
  'TOKEN',
  'DB_PASS',
  'SENTRY_DSN',
  'my_service_password',
  'npm_config__authToken',
];

export const ENVIRONMENT_ATTACKS: readonly Attack[] = [
  ...SECRET_NAMES.map((name): Attack => ({
    id: `env-${name}`,
    title: `print ${name}`,
    class: 'environment',
    control: ['environment'],
    script: 'cat /proc/self/environ; env',
    env: (fixture) => ({ [name]: fixture.secret }),
    isSuccess: printsSecret,
  })),
  {
    id: 'env-proxy-url',
    title: 'print the credentials of a proxy',
    class: 'environment',
    control: ['environment'],
    script: 'env',
    env: (fixture) => ({ https_proxy: `http://user:${fixture.secret}@127.0.0.1:9` }),
    isSuccess: printsSecret,
  },
  {
    id: 'env-of-supervisor',
    title: 'read a scrubbed value from any process that can be seen',
    class: 'environment',
    control: ['environment', 'pid', 'landlock'],
    script: 'grep -a -s -h -o "VAULT_TOKEN=$2[a-z-]*" /proc/[0-9]*/environ',
    env: (fixture) => ({ VAULT_TOKEN: `${fixture.token}-scrubbed` }),
    isSuccess: (result, fixture) => result.stdout.includes(`${fixture.token}-scrubbed`),
  },
  {
    id: 'env-ld-preload',
    title: 'have LD_PRELOAD reach the program',
    class: 'environment',
    control: ['environment'],
    script: 'printf "preload:%s\\n" "$LD_PRELOAD"',
    bareScript: 'printf "preload:%s\\n" "$LD_PRELOAD"',
    env: (fixture) => ({ LD_PRELOAD: fixture.at('work/absent.so') }),
    isSuccess: prints(/preload:\/.*absent\.so/),
  },
];
