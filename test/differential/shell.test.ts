import { declareWorkloads } from './declare.ts';

/** Numbers of processes and of terminals differ from run to run. */
const PIDS = [
  [/^\[(\d)\] \d+(?=\r?$)/gm, '[$1] PID'],
  [/(line \d+:) +\d+ /g, '$1 PID '],
  [/\((\d{2,})\) - No such process/g, '(PID) - No such process'],
] as const;

declareWorkloads('shell', [
  {
    name: 'pipes, traps, fifos and small tools',
    files: ['shell.sh'],
    command: ['/bin/bash', 'shell.sh'],
    tools: ['bash', 'script', 'timeout', 'flock', 'python3'],
    volatileText: PIDS,
    volatileFiles: /typescript$/,
  },
  {
    name: 'job control on a terminal',
    files: [],
    command: ['env', 'PS1=ready$ ', 'bash', '--norc', '--noprofile', '-i'],
    tools: ['bash', 'python3'],
    dialogue: 'jobs.dialogue',
    volatileText: PIDS,
  },
  {
    name: 'programs under the job control of an outer shell',
    files: [],
    command: ['env', 'PS1=outer$ ', 'bash', '--norc', '--noprofile', '-i'],
    isOuter: true,
    tools: ['bash', 'python3'],
    dialogue: 'outer.dialogue',
    volatileText: PIDS,
  },
]);
