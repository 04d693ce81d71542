import { readFile } from 'node:fs/promises';

/** In the command line of every machine: whose it is. */
export const MACHINE_NAME = /^assay-microvm-(\d+)-(\d+)$/;

export async function readText(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => ''); // a process that has ended meanwhile
}

/** When a process was started, which tells it from a later one of the same number. */
export async function readStart(pid: number | string): Promise<string> {
  const text = await readText(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** What a machine is called, so that whoever finds it knows whether anybody still uses it. */
export async function nameMachine(): Promise<string> {
  return `assay-microvm-${process.pid}-${await readStart('self')}`;
}
