import { isAtOrBelow } from './file-tree.ts';
import { EXEC, type Grant, READ, type SystemGroup, WRITE } from './grants.ts';
import type { LandlockRules } from './plan.ts';

/** Rights by the ABI that brought them; a kernel is asked for no more than it knows. */
const FS_RIGHTS: readonly { readonly abi: number; readonly bits: number }[] = [
  { abi: 1, bits: 0x1fff },
  { abi: 2, bits: 1 << 13 }, // refer: move and link between directories
  { abi: 3, bits: 1 << 14 }, // truncate
  { abi: 5, bits: 1 << 15 }, // ioctl on devices
];
/** Connecting and sending to unix sockets by path, since ABI 9; those that were made inside stay open. */
const RESOLVE_UNIX = 1 << 16;
/** Binding and connecting of TCP; binding and sending of UDP, since ABI 10. */
const TCP_RIGHTS = 3;
const UDP_RIGHTS = 12;
export const KNOWN_ABI = 10;

const LIST_RIGHT = 1 << 3;
const READ_RIGHTS = (1 << 2) | LIST_RIGHT;
const EXEC_RIGHTS = 1 << 0;
// write_file, remove_dir, remove_file, make_dir, make_reg, make_sock, make_fifo, make_sym, refer, truncate;
// never make_char and make_block
const WRITE_RIGHTS = [1, 4, 5, 7, 8, 9, 10, 12, 13, 14].reduce((bits, bit) => bits | (1 << bit), 0);
const DEVICE_RIGHTS = 1 << 15;
const TRUNCATE_RIGHT = 1 << 14;
/** What is written here reaches no file of a read-only mount. */
const NO_FILES = ['/dev', '/proc', '/sys'];

const WHAT_IS_MISSING: readonly (readonly [abi: number, what: string])[] = [
  [2, 'files cannot be moved between directories'],
  [3, 'truncating is not refused'],
  [4, 'TCP is left to other layers'],
  [5, 'device controls are not refused'],
  [6, 'signals and abstract sockets are left to other layers'],
];

export interface LandlockPlan {
  readonly abi: number;
  readonly fs: number;
  readonly net: number;
  readonly scope: number;
  readonly rules: readonly LandlockRules[];
}

export function handledFsRights(abi: number): number {
  return FS_RIGHTS.reduce((bits, right) => (abi >= right.abi ? bits | right.bits : bits), 0);
}

/** What a kernel of this age leaves open; empty from ABI 6 on. */
export function describeMissing(abi: number): string {
  return WHAT_IS_MISSING.filter(([since]) => abi < since)
    .map(([, what]) => what)
    .join('; ');
}

export function toAccess(grant: Pick<Grant, 'path' | 'rights'>): number {
  let access = 0;
  if (grant.rights & READ) access |= READ_RIGHTS;
  if (grant.rights & EXEC) access |= EXEC_RIGHTS;
  if (grant.rights & WRITE) access |= WRITE_RIGHTS;
  if (grant.rights & WRITE && grant.path.startsWith('/dev/')) access |= DEVICE_RIGHTS;
  return access;
}

/**
 * At every open Landlock also asks whether the file may be truncated later, and walks up to the root if no rule says yes.
 * Where the mount refuses it, a yes costs nothing and ends the walk at the grant.
 */
function easeOpening(
  { path, rights }: Pick<Grant, 'path' | 'rights'>,
  isReadOnly: boolean,
): number {
  if (!isReadOnly || !(rights & READ)) return 0;
  return NO_FILES.some((dir) => isAtOrBelow(path, dir)) ? 0 : TRUNCATE_RIGHT;
}

export function planLandlock(options: {
  readonly abi: number;
  readonly grants: readonly Pick<Grant, 'path' | 'rights'>[];
  readonly system: readonly Pick<SystemGroup, 'rights' | 'paths'>[];
  /** Directories whose names may be listed, and no more. */
  readonly listed: readonly string[];
  /** Whatever is not granted for writing lies on a read-only mount. */
  readonly isRestReadOnly: boolean;
  /** TCP and UDP are refused by Landlock as well; to the program alone, where the broker connects. */
  readonly isNetworkRefused: boolean;
  /** No rule names a unix socket of others. One that does may mean what is not there yet, which only the broker can tell. */
  readonly isUnixRefused: boolean;
}): LandlockPlan {
  const abi = Math.min(options.abi, KNOWN_ABI);
  const fs = handledFsRights(abi) | (abi >= 9 && options.isUnixRefused ? RESOLVE_UNIX : 0);
  const net = (abi >= 4 ? TCP_RIGHTS : 0) | (abi >= 10 ? UDP_RIGHTS : 0);
  const byPath = new Map<string, number>();
  const accessOf = (grant: Pick<Grant, 'path' | 'rights'>): number =>
    (toAccess(grant) | easeOpening(grant, options.isRestReadOnly)) & fs;
  for (const grant of options.grants)
    byPath.set(grant.path, (byPath.get(grant.path) ?? 0) | accessOf(grant));
  for (const path of options.listed) byPath.set(path, (byPath.get(path) ?? 0) | LIST_RIGHT);
  const rules = new Map<number, string[]>();
  for (const { rights, paths } of options.system) {
    // The only system places that can be written are devices.
    const access = (toAccess({ path: '', rights }) | (rights & WRITE ? DEVICE_RIGHTS : 0)) & fs;
    rules.set(access, [...(rules.get(access) ?? []), ...paths]);
  }
  for (const [path, access] of byPath) {
    const paths = rules.get(access);
    if (paths) paths.push(path);
    else rules.set(access, [path]);
  }
  return {
    abi: options.abi,
    fs,
    net: options.isNetworkRefused ? net : 0,
    scope: abi >= 6 ? 3 : 0,
    rules: Array.from(rules, ([access, paths]) => ({ access, paths })),
  };
}
