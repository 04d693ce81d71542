import { statSync } from 'node:fs';
import type { MachineRequest } from './machine.ts';

const MIB = 1024 * 1024;
/** For QEMU itself, besides the memory of the guest: translated code, buffers, libraries. */
const OWN_MIB = 1536;
/** Nobody's: not the one of `nobody`, which may own files and reserved blocks. */
const UID = 61_973;
const ROOT = 0;

export interface Command {
  readonly file: string;
  readonly args: string[];
}

function listRights({ accelerator, isForSnapshot }: MachineRequest): string[] {
  // A machine that a snapshot is made of has to write it, and runs nobody's code.
  if (process.getuid?.() !== ROOT || isForSnapshot) return [];
  const groups =
    accelerator === 'kvm' ? ['--groups', `${statSync('/dev/kvm').gid}`] : ['--clear-groups'];
  return [
    '--reuid',
    `${UID}`,
    '--regid',
    `${UID}`,
    ...groups,
    '--bounding-set=-all',
    '--inh-caps=-all',
  ];
}

/**
 * QEMU is the second wall: whoever breaks out of the guest is in a process that has no rights to speak of, and that ends
 * with this one.
 */
export function confine(argv: readonly string[], request: MachineRequest): Command {
  const bytes = (request.memoryMib + OWN_MIB) * MIB;
  return {
    file: '/usr/bin/prlimit',
    args: [
      `--as=${bytes}`,
      '--core=0',
      ...(request.isForSnapshot ? [] : ['--fsize=0', '--nofile=64']),
      '/usr/bin/setpriv',
      ...listRights(request),
      '--no-new-privs',
      '--pdeathsig',
      'KILL',
      ...argv,
    ],
  };
}
