import * as fs from 'node:fs';

const OWN_NAME = new RegExp(`assay\\b[^ ]*\\b${process.pid}\\b`);

/** Processes whose command line holds `token`, of whatever parent. */
export function findProcesses(token: string): string[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => readText(`/proc/${pid}/cmdline`).includes(token))
    .map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 80)}`);
}

/** Descendants of this process, zombies included: threads of the test runner have none of their own. */
function countDescendants(): number {
  const children = new Map<number, number[]>();
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readText(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const count = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + 1 + count(child), 0);
  return count(process.pid);
}

/** Of ours, by the number of this process: other programs of this host mount as they like, other tests among them. */
function countMounts(): number {
  return readText('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => OWN_NAME.test(line)).length;
}

/** Names in the places where assay makes directories, that hold the number of this process. */
function countOwnNames(): number {
  const places = [
    '/tmp',
    '/var/tmp',
    '/run',
    '/sys/fs/cgroup',
    '/sys/fs/cgroup/memory',
    '/sys/fs/cgroup/pids',
  ];
  return places.flatMap(listNames).filter((name) => OWN_NAME.test(name)).length;
}

function listNames(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch {
    return []; // not on this host
  }
}

function readText(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has ended meanwhile
  }
}

/** What this process holds on the host, whatever the backend. */
export function countHeld(): Record<string, number> {
  return {
    processes: countDescendants(),
    descriptors: fs.readdirSync('/proc/self/fd').length,
    mounts: countMounts(),
    names: countOwnNames(),
  };
}
