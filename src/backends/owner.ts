import { readFileSync } from 'node:fs';

/** Field 22 of /proc/PID/stat: when a process was started. A number alone may be another's by now. */
function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined; // it has ended
  }
}

function readBoot(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** Names this process, for what is to go when it has gone. */
export function nameOwner(): string {
  return `${process.pid}:${readStart(process.pid) ?? ''}:${readBoot()}`;
}

/** Of this machine only: what another one has started is not ours to judge. */
export function isOwnerGone(owner: string): boolean {
  const [pid = '', start, boot] = owner.split(':');
  if (!/^\d+$/.test(pid)) return false;
  return boot !== readBoot() || readStart(Number(pid)) !== start;
}
