import { constants } from 'node:os';

/** `EACCES (13)`, from the numbers of this platform. */
export function describeErrno(errno: number): string {
  const name = Object.entries(constants.errno).find(([, value]) => value === errno)?.[0];
  return name ? `${name} (${errno})` : `error ${errno}`;
}
