import { isAtOrBelowAny } from '../changes.ts';

/** Where a path of a bundle lies, as far as its name tells. */
export type PathPlace =
  | 'workspace'
  /** Thrown away with the run. */
  | 'private'
  /** Devices and kernel state, which keep nothing. */
  | 'device'
  | 'outside'
  /** The older format does not say where the workspace was. */
  | 'unknown';

const PRIVATE = ['${TMPDIR}', '${ASSAY_TMP}', '/dev/shm'];
const DEVICES = ['/dev', '/proc', '/sys'];
const SYSTEM = [
  '/bin',
  '/boot',
  '/etc',
  '/lib',
  '/lib64',
  '/opt',
  '/root',
  '/sbin',
  '/usr',
  '/var',
];

export function placeOfPath(path: string, isSandbox: boolean): PathPlace {
  if (isAtOrBelowAny(path, PRIVATE)) return 'private';
  if (isAtOrBelowAny(path, ['${CWD}/..'])) return 'outside';
  if (isAtOrBelowAny(path, ['${CWD}', '.'])) return 'workspace';
  if (isAtOrBelowAny(path, DEVICES)) return 'device';
  if (isAtOrBelowAny(path, ['${HOME}', '~', '..'])) return 'outside';
  if (!path.startsWith('/')) return 'unknown';
  return isSandbox || isAtOrBelowAny(path, SYSTEM) ? 'outside' : 'unknown';
}

const HOME = /^(?:\$\{HOME\}|~(?:\/\*\*)?|\/root|\/(?:home|Users)\/[^/]+)\/(.+)$/s;

/** What follows the home directory in a path; undefined outside of one. */
export function pathInHome(path: string): string | undefined {
  return HOME.exec(path)?.[1];
}

const LOOPBACK =
  /^(?:\w+:)?(?:127(?:\.\d{1,3}){3}(?=:|$)|0\.0\.0\.0(?::|$)|localhost(?::|$)|\[(?:::1|::|::ffff:127\.[^\]]*)\]|::1$)/;

/** The run's own loopback, or that of the host where it has the network of the host. */
export function isLoopbackEndpoint(endpoint: string): boolean {
  return LOOPBACK.test(endpoint);
}
