import { splitPath } from './split-path.ts';

const LOCK = /(?:lock|lck)$|^\.#/i;
const NUMBER = /(?<![0-9A-Za-z])\d{3,7}(?![0-9A-Za-z])/g;

/**
 * Tells a symbolic link that leads nowhere and says who holds a lock: `host-4711` of ccache and browsers,
 * `me@host.4711:1700000000` of Emacs.
 */
export function isLockOwner(
  text: string,
  path: string,
  isProcess: (number: number) => boolean,
): boolean {
  if (text.includes('/') || !LOCK.test(splitPath(path).name)) return false;
  return (text.match(NUMBER) ?? []).some((digits) => isProcess(Number(digits)));
}
