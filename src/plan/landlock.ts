import { EXEC, READ, WRITE, type Grant } from './grants.ts';
import type { LandlockRule } from './plan.ts';

/** Rights by the ABI that brought them; a kernel is asked for no more than it knows. */
const FS_RIGHTS: readonly { readonly abi: number; readonly bits: bigint }[] = [
  { abi: 1, bits: 0x1fffn },
  { abi: 2, bits: 1n << 13n }, // refer: move and link between directories
  { abi: 3, bits: 1n << 14n }, // truncate
  { abi: 5, bits: 1n << 15n }, // ioctl on devices
];
const KNOWN_ABI = 7;

const LIST_RIGHT = 1n << 3n;
const READ_RIGHTS = (1n << 2n) | LIST_RIGHT;
const EXEC_RIGHTS = 1n << 0n;
// write_file, remove_dir, remove_file, make_dir, make_reg, make_sock, make_fifo, make_sym, refer, truncate;
// never make_char and make_block
const WRITE_RIGHTS = [1n, 4n, 5n, 7n, 8n, 9n, 10n, 12n, 13n, 14n].reduce(
  (bits, bit) => bits | (1n << bit),
  0n,
);
const DEVICE_RIGHTS = 1n << 15n;

const WHAT_IS_MISSING: readonly (readonly [abi: number, what: string])[] = [
  [2, 'files cannot be moved between directories'],
  [3, 'truncating is not refused'],
  [4, 'TCP is left to other layers'],
  [5, 'device controls are not refused'],
  [6, 'signals and abstract sockets are left to other layers'],
];

export interface LandlockPlan {
  readonly abi: number;
  readonly fs: bigint;
  readonly net: bigint;
  readonly scope: bigint;
  readonly rules: readonly LandlockRule[];
}

export function handledFsRights(abi: number): bigint {
  return FS_RIGHTS.reduce((bits, right) => (abi >= right.abi ? bits | right.bits : bits), 0n);
}

/** What a kernel of this age leaves open; empty from ABI 6 on. */
export function describeMissing(abi: number): string {
  return WHAT_IS_MISSING.filter(([since]) => abi < since)
    .map(([, what]) => what)
    .join('; ');
}

export function toAccess(grant: Pick<Grant, 'path' | 'rights'>): bigint {
  let access = 0n;
  if (grant.rights & READ) access |= READ_RIGHTS;
  if (grant.rights & EXEC) access |= EXEC_RIGHTS;
  if (grant.rights & WRITE) access |= WRITE_RIGHTS;
  if (grant.rights & WRITE && grant.path.startsWith('/dev/')) access |= DEVICE_RIGHTS;
  return access;
}

export function planLandlock(options: {
  readonly abi: number;
  readonly grants: readonly Pick<Grant, 'path' | 'rights'>[];
  /** Directories whose names may be listed, and no more. */
  readonly listed: readonly string[];
  /** No network at all: TCP is refused by Landlock as well. */
  readonly isNetworkRefused: boolean;
}): LandlockPlan {
  const abi = Math.min(options.abi, KNOWN_ABI);
  const fs = handledFsRights(abi);
  const byPath = new Map<string, bigint>();
  for (const grant of options.grants)
    byPath.set(grant.path, (byPath.get(grant.path) ?? 0n) | (toAccess(grant) & fs));
  for (const path of options.listed) byPath.set(path, (byPath.get(path) ?? 0n) | LIST_RIGHT);
  return {
    abi: options.abi,
    fs,
    net: abi >= 4 && options.isNetworkRefused ? 3n : 0n,
    scope: abi >= 6 ? 3n : 0n,
    rules: Array.from(byPath, ([path, access]) => ({ path, access })),
  };
}
