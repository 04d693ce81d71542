import { constants } from 'node:os';

/** `EACCES (13)`, from the numbers of this platform. */
export function describeErrno(errno: number): string {
  const name = nameErrno(errno);
  return name ? `${name} (${errno})` : `error ${errno}`;
}

export function nameErrno(errno: number): string | undefined {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0];
}
